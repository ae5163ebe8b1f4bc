"""Expectations as data: what an update keeps, drops and adds, and that the file says it all again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay import plugins
from assay.core.finding import Finding
from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.refusals.backend_codes import BackendCode
from assay.core.refusals.conversion_codes import ConversionCode
from assay.core.refusals.transform_codes import TransformCode
from assay.core.result import Result
from assay.errors import BadPolicy, FewerCases
from assay.judge.expectations import matches
from assay.judge.words.note_text import note_text
from assay.pipeline.merge import without_shard
from assay.pipeline.suite_cases.expect_reason import reason_of
from assay.pipeline.suite_cases.known_outcomes import ExpectedOutcome, expectations, read_expected, to_toml, updated
from assay.pipeline.suite_cases.suite_counts import check_counts
from assay.suites.edge import EdgeCases
from assay.suites.gradients import Gradients
from assay.suites.models import Models
from assay.suites.operators import Operators
from assay.suites.regressions import Regressions
from assay.testing.builders import make_result


def _result(case: str, outcome: str, stage: str = "lower", detail: str = "") -> Result:
    return make_result(f"s/{case}", outcome=Outcome(outcome), stage=Stage(stage), detail=detail)


OLD = ExpectedOutcome(
    "unsupported", "lower", "no kernel", ("s/a", "s/b*", "s/absent"), issue="#1", expires="2030-01-01"
)


@pytest.mark.parametrize(
    ("results", "cases"),
    [
        ([_result("a", "unsupported"), _result("b1", "unsupported")], [("s/a", "s/b*", "s/absent")]),
        ([_result("a", "ok"), _result("b1", "unsupported"), _result("b2", "ok")], [("s/b*", "s/absent")]),
        ([_result("a", "unsupported", "load")], [("s/b*", "s/absent"), ("s/a",)]),
        ([_result("new", "crash", "run")], [("s/a", "s/b*", "s/absent"), ("s/new",)]),
        ([_result("new", "infrastructure", "run")], [("s/a", "s/b*", "s/absent")]),
    ],
)
def test_an_update_keeps_what_lasts_drops_what_passes_and_adds_what_is_new(
    results: list[Result], cases: list[tuple[str, ...]]
) -> None:
    after = updated([OLD], results)
    assert [expectation.cases for expectation in after] == cases
    assert (after[0].reason, after[0].issue, after[0].expires) == ("no kernel", "#1", "2030-01-01")
    assert updated(after, results) == after


def test_what_fails_as_an_entry_says_joins_it_unless_that_one_ends_some_day() -> None:
    plain = ExpectedOutcome("unsupported", "lower", "no kernel", ("s/b",))
    (after,) = updated([plain], [_result("a", "unsupported", detail="no kernel")])
    assert after == ExpectedOutcome("unsupported", "lower", "no kernel", ("s/a", "s/b"))
    assert [
        expectation.cases for expectation in updated([plain], [_result("a", "unsupported", detail="no memory")])
    ] == [
        ("s/b",),
        ("s/a",),
    ]
    dated = ExpectedOutcome("unsupported", "lower", "no kernel", ("s/b",), expires="2030-01-01")
    assert [
        expectation.cases for expectation in updated([dated], [_result("a", "unsupported", detail="no kernel")])
    ] == [
        ("s/b",),
        ("s/a",),
    ]


def _refused(case: str, node: str, kinds: str = "Mod") -> Result:
    note = noted(TransformCode.NOTHING_TO_QUANTIZE, transform="int8-qdq", kinds=f"{kinds} {node}")
    return replace(_result(case, "unsupported", "transform", note_text(note)), ended=note)


def test_what_ends_for_the_reason_of_known_cases_joins_them_in_the_words_of_a_person() -> None:
    """Otherwise each new case brings back the words that somebody had replaced."""
    own = ExpectedOutcome("unsupported", "transform", "the quantizer takes none of it", ("s/a", "s/elsewhere"))
    results = [_refused("a", "n1"), _refused("b", "n2"), _result("c", "unsupported", "transform", "no kernel")]
    joined, other = updated([own], results)
    assert joined == replace(own, cases=("s/a", "s/b", "s/elsewhere"))
    assert (other.reason, other.cases) == ("no kernel", ("s/c",))
    assert updated((joined, other), results) == (joined, other)


def test_a_cause_that_people_told_apart_is_not_guessed_and_one_that_ends_some_day_takes_no_more() -> None:
    apart = [
        ExpectedOutcome("unsupported", "transform", words, (f"s/{case}",)) for words, case in (("x", "a"), ("y", "b"))
    ]
    results = [_refused(case, case) for case in "abc"]
    assert [entry.cases for entry in updated(apart, results)] == [("s/a",), ("s/b",), ("s/c",)]
    dated = replace(apart[0], expires="2030-01-01")
    assert [entry.cases for entry in updated([dated, apart[1]], results)] == [("s/a",), ("s/b", "s/c")]
    assert [entry.cases for entry in updated([dated], results)] == [("s/a",), ("s/b", "s/c")]


def test_a_cause_that_people_told_apart_gets_one_entry_in_the_words_of_the_flow_however_often_it_grows() -> None:
    known: tuple[ExpectedOutcome, ...] = tuple(
        ExpectedOutcome("unsupported", "lower", words, (f"s/{case}",)) for words, case in (("x", "a"), ("y", "b"))
    )
    results = [_result(case, "unsupported", detail="no Foo") for case in "ab"]
    for case in "cde":
        results.append(_result(case, "unsupported", detail="no Foo"))
        known = updated(known, results)
    assert [(entry.reason, entry.cases) for entry in known] == [
        ("x", ("s/a",)),
        ("y", ("s/b",)),
        ("no Foo", ("s/c", "s/d", "s/e")),
    ]


def test_an_entry_with_an_issue_hides_none_that_takes_more() -> None:
    own, issue = (
        ExpectedOutcome("unsupported", "lower", words, (f"s/{case}",), issue=issue)
        for words, case, issue in (("no Foo", "b", ""), ("vendor bug", "a", "#12"))
    )
    results = [_result(case, "unsupported", detail="no Foo") for case in "ac"]
    assert [entry.cases for entry in updated([issue, own], results)] == [("s/a",), ("s/b", "s/c")]
    same_words = replace(issue, reason="no Foo")
    assert [entry.cases for entry in updated([own, same_words], results[1:])] == [("s/b", "s/c"), ("s/a",)]


LONG = (
    "The importer does not take it because the graph has an attribute that lies outside of what the converter was written for. "
    * 2
)


@pytest.mark.parametrize(
    ("outcome", "details"),
    [
        ("unsupported", [f"no kernel for operator '{name}'" for name in ("Erf", "Celu")]),
        ("unsupported", [f"unsupported element type {name}" for name in ("u8", "s64")]),
        ("unsupported", [f"{LONG}Operator {name}" for name in ("Foo", "Bar")]),
        ("other_precision", ["float32 for MatMul", "float32 for Conv"]),
    ],
)
def test_another_cause_does_not_join_the_words_of_a_person(outcome: str, details: list[str]) -> None:
    known = ExpectedOutcome(outcome, "lower", "as the vendor says", ("s/0",))
    results = [_result(str(number), outcome, detail=detail) for number, detail in enumerate(details)]
    assert [entry.cases for entry in updated([known], results)] == [("s/0",), ("s/1",)]


def test_a_case_with_two_results_stands_once_in_an_entry() -> None:
    (entry,) = updated([], [_result("a", "unsupported", detail="no Foo")] * 2)
    assert entry.cases == ("s/a",)


def test_wrong_answers_do_not_join_what_is_known_of_others() -> None:
    """They may have any cause: a person looks at them."""
    known = ExpectedOutcome("mismatch", "compare", "a convolution reads a padded value", ("s/a",))
    wrong = [
        make_result(f"s/{case}", outcome=Outcome.MISMATCH, comparisons=(), findings=(Finding("values", "y"),))
        for case in "ab"
    ]
    assert [entry.cases for entry in updated([known], wrong)] == [("s/a",), ("s/b",)]


@pytest.mark.parametrize(
    ("outcome", "details"),
    [
        (
            "other_precision",
            [f"nothing of this int8 flow computes in int8: {kinds} in float32" for kinds in ("ADD", "MUL, ABS")],
        ),
        ("unsupported", [f"a size, {symbol}, depends on values (https://x.org/{symbol})" for symbol in ("u0", "s14")]),
    ],
)
def test_what_differs_from_case_to_case_is_no_reason(outcome: str, details: list[str]) -> None:
    first, second = (_result(str(number), outcome, "compare", detail) for number, detail in enumerate(details))
    (entry,) = updated([], [first, second])
    assert len(entry.cases) == 2
    assert "ADD" not in entry.reason
    assert "http" not in entry.reason


def test_operators_left_elsewhere_and_places_are_no_reason_and_what_is_lacking_is_one() -> None:
    left = [noted(NoteCode.NOTHING_DELEGATED, operators=(name, "aten.mul")) for name in ("aten.add", "aten.sub")]
    led = [
        noted(ConversionCode.TORCH_FAILED, operator=kind, node="n", error=noted(ConversionCode.CONDITION_OF_VALUES))
        for kind in ("RoiAlign", "Loop")
    ]
    tails = [
        noted(ConversionCode.TORCH_FAILED, operator="GRU", node=node, error=f"no such kernel While executing %{node}")
        for node in ("gru1", "gru2")
    ]
    for notes in (left, led, tails):
        first, second = (replace(_result("c", "unsupported", detail=note_text(note)), ended=note) for note in notes)
        assert reason_of(first) == reason_of(second)
    assert reason_of(replace(_result("c", "unsupported"), ended=tails[0])) == "torch failed in GRU (…): no such kernel"


def test_what_may_pass_by_chance_is_kept_and_fails_nothing(tmp_path: Path) -> None:
    chance = ExpectedOutcome("mismatch", "compare", "nobody writes its output", ("s/a",), strict=False)
    ends = (
        _result("a", "ok", "compare"),
        _result("a", "nondeterministic", "compare"),
        _result("a", "mismatch", "compare"),
    )
    (tmp_path / "f.toml").write_text(to_toml("f", [chance]), encoding="utf-8")
    assert read_expected(tmp_path / "f.toml") == (chance,)
    assert updated([chance], [ends[0]]) == (chance,)
    assert [expectation.strict for expectation in updated([chance], [ends[1]])] == [False, True]
    (found,) = expectations(tmp_path, ["f"], ["s"])
    assert not found.strict


def test_a_case_that_passes_in_another_version_stays_known_of_its_own() -> None:
    known = ExpectedOutcome("mismatch", "", "wrong", ("s/a",), versions=("lib==1.2.*",))
    fixed, wrong = (
        make_result("s/a", outcome=outcome, versions={"lib": version})
        for outcome, version in ((Outcome.OK, "1.3"), (Outcome.MISMATCH, "1.2.7"))
    )
    assert updated([known], [fixed]) == (known,)
    assert updated([known], [wrong]) == (known,)
    assert updated([known], [make_result("s/a", versions={"lib": "1.2.7"})]) == ()


def test_the_file_says_again_what_was_written(tmp_path: Path) -> None:
    known = (
        OLD,
        ExpectedOutcome("mismatch", "", 'quotes " and \\ and µ', ("s/[x]",), versions=("lib==1.2.*", "lib==1.3.0")),
    )
    (tmp_path / "f.toml").write_text(to_toml("f", known), encoding="utf-8")
    assert read_expected(tmp_path / "f.toml") == known
    expectations_read = expectations(tmp_path, ["f", "other"], ["s"])
    assert [expectation.case for expectation in expectations_read] == ["s/a", "s/b*", "s/absent", "s/[x]"]
    assert {(expectation.flow, expectation.stage) for expectation in expectations_read} == {("f", "lower"), ("f", "")}
    assert [expectation.versions for expectation in expectations_read] == [(), (), (), ("lib==1.2.*", "lib==1.3.0")]
    assert expectations(tmp_path, ["f"], ["elsewhere"]) == ()
    (tmp_path / "f.toml").write_text('[[expect]]\noutcome = "unsuported"\nreason = "x"\ncases = ["a"]\n')
    with pytest.raises(BadPolicy, match="unsupported"):
        read_expected(tmp_path / "f.toml")


def test_reasons_are_alike_for_cases_that_fail_alike() -> None:
    result = _result("a", "unsupported", detail="no kernel for Add(13) node 'n1' at /x/y.cc:12")
    two = _result("b", "unsupported", detail="no kernel for Add(14) node 'n2' at /x/z.cc:99")
    assert reason_of(result) == reason_of(two)
    lacking = [
        noted(TransformCode.NOTHING_TO_QUANTIZE, transform="int8-qdq", kinds=kinds) for kinds in ("Add, If", "Mod")
    ]
    three, four = (replace(_result("c", "unsupported", detail=note_text(note)), ended=note) for note in lacking)
    assert reason_of(three) == reason_of(four)
    assert "finds nothing to quantize in this model (it has …)" in reason_of(three)
    lacks = [noted(BackendCode.NO_OPERATOR, library="MNN", names=name) for name in ("Foo", "Bar")]
    reasons = [reason_of(replace(three, ended=lack)) for lack in lacks]
    assert reasons == ["MNN has no Foo.", "MNN has no Bar."]
    finding = Finding("lowest_for_infinity", "y")
    wrong = make_result("s/c", outcome=Outcome.MISMATCH, comparisons=(), findings=(finding,))
    assert reason_of(wrong) == "mismatch in lowest for infinity"


def test_counts_grow_by_themselves_and_shrink_only_when_accepted(tmp_path: Path) -> None:
    check_counts({"s": 10}, tmp_path, accept=False)
    check_counts({"s": 12, "t": 1}, tmp_path, accept=False)
    with pytest.raises(FewerCases, match="collects 11 cases, 12 are recorded"):
        check_counts({"s": 11}, tmp_path, accept=False)
    check_counts({"s": 11}, tmp_path, accept=True)
    check_counts({"s": 11}, tmp_path, accept=False)


@pytest.mark.parametrize(
    ("command", "whole", "shard"),
    [
        ("assay run s --flow f --shard 2/4", "assay run s --flow f", (2, 4)),
        ("assay run s --shard=1/2 --history h --flow f --workers 3", "assay run s --flow f", (1, 2)),
        ("assay run s --flow f", "assay run s --flow f", (1, 1)),
    ],
)
def test_the_command_of_the_whole_run(command: str, whole: str, shard: tuple[int, int]) -> None:
    assert without_shard(command) == (whole, shard)


@pytest.mark.heavy
def test_our_known_outcomes_are_of_flows_and_cases_that_there_are() -> None:
    suites = (Operators(), Models(), EdgeCases(), Gradients(), Regressions())
    names = {case.name for suite in suites for case in suite.cases(seed=0)}
    here = Path(__file__).parents[3] / "expectations"
    files = sorted(here.glob("*.toml"))
    assert files
    assert {path.stem for path in files} <= set(plugins.catalogue().flows)
    expected_case = [case for path in files for entry in read_expected(path) for case in entry.cases]
    ours = [case for case in expected_case if case.partition("/")[0] in {suite.name for suite in suites}]
    assert ours
    assert [case for case in ours if not any(matches(name, case) for name in ({case} & names or names))] == []

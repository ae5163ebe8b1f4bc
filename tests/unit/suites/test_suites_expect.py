"""Expectations as data: what an update keeps, drops and adds, and that the file says it all again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay import plugins
from assay.core.finding import Finding
from assay.core.note import noted
from assay.core.outcome import Outcome, Stage
from assay.core.refusals.backend_codes import BackendCode
from assay.core.refusals.transform_codes import TransformCode
from assay.core.result import Result
from assay.errors import BadPolicy, FewerCases
from assay.judge.expectations import matches
from assay.judge.note_text import note_text
from assay.pipeline.expect import ExpectedOutcome, expectations, normalize_message, read_expected, to_toml, updated
from assay.pipeline.merge import without_shard
from assay.pipeline.suite_counts import check_counts
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
    found = expectations(tmp_path, ["f", "other"], ["s"])
    assert [expectation.case for expectation in found] == ["s/a", "s/b*", "s/absent", "s/[x]"]
    assert {(expectation.flow, expectation.stage) for expectation in found} == {("f", "lower"), ("f", "")}
    assert [expectation.versions for expectation in found] == [(), (), (), ("lib==1.2.*", "lib==1.3.0")]
    assert expectations(tmp_path, ["f"], ["elsewhere"]) == ()
    (tmp_path / "f.toml").write_text('[[expect]]\noutcome = "unsuported"\nreason = "x"\ncases = ["a"]\n')
    with pytest.raises(BadPolicy, match="unsupported"):
        read_expected(tmp_path / "f.toml")


def test_reasons_are_alike_for_cases_that_fail_alike() -> None:
    one = _result("a", "unsupported", detail="no kernel for Add(13) node 'n1' at /x/y.cc:12")
    two = _result("b", "unsupported", detail="no kernel for Add(14) node 'n2' at /x/z.cc:99")
    assert normalize_message(one) == normalize_message(two)
    lacking = [
        noted(TransformCode.NOTHING_TO_QUANTIZE, transform="int8-qdq", kinds=kinds) for kinds in ("Add, If", "Mod")
    ]
    three, four = (replace(_result("c", "unsupported", detail=note_text(note)), ended=note) for note in lacking)
    assert normalize_message(three) == normalize_message(four)
    assert "finds nothing to quantize in this model (it has …)" in normalize_message(three)
    lacks = [noted(BackendCode.NO_OPERATOR, library="MNN", names=name) for name in ("Foo", "Bar")]
    reasons = [normalize_message(replace(three, ended=lack)) for lack in lacks]
    assert reasons == ["MNN has no Foo.", "MNN has no Bar."]
    finding = Finding("lowest_for_infinity", "y")
    wrong = make_result("s/c", outcome=Outcome.MISMATCH, comparisons=(), findings=(finding,))
    assert normalize_message(wrong) == "mismatch in lowest for infinity"


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
    told = [case for path in files for one in read_expected(path) for case in one.cases]
    ours = [case for case in told if case.partition("/")[0] in {suite.name for suite in suites}]
    assert ours
    assert [case for case in ours if not any(matches(name, case) for name in ({case} & names or names))] == []

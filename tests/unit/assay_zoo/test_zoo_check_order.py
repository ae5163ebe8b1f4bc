"""One fault is told once: who waits for whom, and what is no finding of its own."""

from __future__ import annotations

import msgspec
import pytest

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.check_order import NOTEBOOKS, drop_consequential_failures, waits_for


def made(
    name: str, outcome: CheckOutcome = CheckOutcome.FAILED, path: str = "", *, stops: bool = False, costly: bool = False
) -> Check:
    sentence = f"{name} says so"
    return Check(
        name=name, outcome=outcome, sentence=sentence, path=path, line=7, executed=1, stops=stops, costly=costly
    )


ALL = ("compliance", "functionality", NOTEBOOKS, "performance")


@pytest.mark.parametrize(
    ("check", "held_up"),
    [
        (made("files.links", path="figure.png"), ()),
        (made("files.links", path="model.onnx"), ALL),
        (made("files.external_data", path="model.onnx"), ALL),
        (made("files.pickles", path="state.pkl"), ()),
        (made("files.secrets", path="validation.ipynb"), ()),
        (made("files.readable", path="validation.ipynb"), (NOTEBOOKS,)),
        (made("files.readable", path="test_data_set_0/input_0.pb"), ("functionality", "performance")),
        (made("files.readable", CheckOutcome.INFRASTRUCTURE), ALL),
        (made("artifacts.samples"), ("functionality", "performance")),
        (made("artifacts.parts", path="inference.ipynb"), (NOTEBOOKS,)),
        (made("artifacts.parts", path="README.md"), ()),
        (made("artifacts.sources", path="inference.ipynb"), (NOTEBOOKS,)),
        (made("artifacts.scan", path="inference.ipynb"), ()),
        (made("artifacts.license"), ()),
        (made("compliance.model"), ()),
        (made("compliance.node", stops=True), ("functionality", "performance")),
        (made("compliance.node", stops=True, costly=True), ("functionality", NOTEBOOKS, "performance")),
        (made("functionality.golden"), ()),
        (made("functionality.onnxruntime", stops=True), ("performance",)),
        (made("accuracy.claim"), ()),
    ],
    ids=lambda value: f"{value.name} {value.path}".strip() if isinstance(value, Check) else "",
)
def test_a_finding_holds_up_only_those_that_cannot_run(check: Check, held_up: tuple[str, ...]) -> None:
    assert tuple(group for group in ALL if waits_for(group, [check])) == held_up
    waived = msgspec.structs.replace(check, outcome=CheckOutcome.WAIVED)
    assert not any(waits_for(group, [waived]) for group in ALL)


def test_the_sentence_names_the_check_and_not_only_its_group() -> None:
    assert waits_for(NOTEBOOKS, [made("artifacts.license"), made("artifacts.sources")]) == "artifacts.sources"


def _outcomes(checks: list[Check], before: Check) -> list[CheckOutcome]:
    return [failure.outcome for failure in drop_consequential_failures(checks, [before])]


def test_what_a_broken_model_explains_is_no_second_fault() -> None:
    follows = [
        msgspec.structs.replace(made("accuracy.validation"), of_runtime=True),
        msgspec.structs.replace(made("accuracy.recomputed"), executed=0),
        made("functionality.onnxruntime", stops=True),
        msgspec.structs.replace(made("functionality.golden", CheckOutcome.UNDECIDED), executed=0),
    ]
    own = [
        made("accuracy.validation"),
        made("accuracy.claim"),
        made("accuracy.recomputed"),
        made("performance.size_bytes"),
    ]
    for before in (made("compliance.node", stops=True), made("compliance.model")):
        assert set(_outcomes(follows, before)) == {CheckOutcome.SKIPPED}
        assert set(_outcomes(own, before)) == {CheckOutcome.FAILED}
    assert CheckOutcome.SKIPPED not in _outcomes(follows, made("artifacts.license"))


def test_what_wrong_test_data_explain_is_no_second_fault() -> None:
    agreement = made("accuracy.recomputed", path="test_data_set_0")
    assert _outcomes([agreement], made("functionality.golden")) == [CheckOutcome.SKIPPED]
    unread = msgspec.structs.replace(made("files.readable"), path="test_data_set_0/input_0.pb")
    assert _outcomes([agreement], unread) == [CheckOutcome.SKIPPED]
    assert _outcomes([made("accuracy.recomputed")], made("functionality.golden")) == [CheckOutcome.FAILED]


def test_a_part_that_was_not_taken_is_no_second_fault() -> None:
    before = [made("files.links", path="data"), made("files.secrets", path="README.md")]
    checks = [
        made("artifacts.samples", path="data/input_0.pb"),
        made("artifacts.samples", path="data/input_0.pb"),
        made("artifacts.parts", CheckOutcome.PASSED, path="data"),
        made("artifacts.parts", path="database"),
        made("artifacts.readme", path="README.md"),
        made("artifacts.index"),
    ]
    first, *others = drop_consequential_failures(checks, before)
    assert (first.outcome, first.executed) == (CheckOutcome.SKIPPED, 0)
    assert first.sentence == "not judged: it may follow from files.links, which must hold first"
    assert others == checks[2:]
    assert drop_consequential_failures(checks[2:], []) == checks[2:]


def test_what_metadata_claim_of_a_model_explains_no_refusal_of_a_runtime() -> None:
    refused = made("functionality.dynamic-batch", path="model.onnx", stops=True)
    (kept,) = drop_consequential_failures([refused], [made("compliance.graph", path="metadata.toml")])
    assert kept.outcome is CheckOutcome.FAILED
    (dropped,) = drop_consequential_failures([refused], [made("compliance.graph", path="model.onnx")])
    assert dropped.outcome is CheckOutcome.SKIPPED

"""One fault is told once: who waits for whom, and what is no finding of its own."""

from __future__ import annotations

import pytest

from assay_zoo.check import GROUPS, Check, CheckOutcome
from assay_zoo.check_order import drop_consequential_failures, waits_for


def made(name: str, outcome: CheckOutcome = CheckOutcome.FAILED, path: str = "") -> Check:
    return Check(name=name, outcome=outcome, sentence=f"{name} says so", path=path, line=7, executed=1)


@pytest.mark.parametrize(
    ("found", "held_up"),
    [
        ("files.links", ("compliance", "functionality", "accuracy", "performance")),
        ("artifacts.samples", ("functionality", "accuracy", "performance")),
        ("artifacts.parts", ("accuracy",)),
        ("artifacts.sources", ("accuracy",)),
        ("artifacts.license", ()),
        ("compliance.node", ("functionality", "accuracy", "performance")),
        ("functionality.golden", ("accuracy", "performance")),
        ("accuracy.claim", ()),
    ],
)
def test_a_finding_holds_up_those_that_could_only_stumble_over_it(found: str, held_up: tuple[str, ...]) -> None:
    assert tuple(group for group in GROUPS if waits_for(group, [made(found)])) == held_up
    assert not any(waits_for(group, [made(found, CheckOutcome.WAIVED)]) for group in GROUPS)


def test_the_sentence_names_the_check_and_not_only_its_group() -> None:
    assert waits_for("accuracy", [made("artifacts.license"), made("artifacts.sources")]) == "artifacts.sources"
    assert waits_for("accuracy", [made("artifacts.sources"), made("files.links")]) == "files"


def test_a_part_that_was_not_taken_is_no_second_fault() -> None:
    before = [made("files.links", path="data"), made("files.secrets", path="README.md")]
    found = [
        made("artifacts.samples", path="data/input_0.pb"),
        made("artifacts.samples", path="data/input_0.pb"),
        made("artifacts.parts", CheckOutcome.PASSED, path="data"),
        made("artifacts.parts", path="database"),
        made("artifacts.readme", path="README.md"),
        made("artifacts.index"),
    ]
    first, *others = drop_consequential_failures(found, before)
    assert (first.outcome, first.executed) == (CheckOutcome.SKIPPED, 0)
    assert first.sentence == "not judged: data/input_0.pb waits for files.links, which must hold first"
    assert others == found[2:]
    assert drop_consequential_failures(found[2:], []) == found[2:]

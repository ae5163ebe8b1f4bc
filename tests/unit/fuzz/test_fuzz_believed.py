"""What triage takes for a finding by its operators is that one only where the finding's own case does not say otherwise."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.fuzz.corpus import Bucket, Session
from assay.fuzz.known import is_believed

FINDING = "docs/findings/openvino-tile-repeats.py"
SEEN = "2026.4.1"
CLAIMED = Bucket(
    "new", "openvino-f32", "openvino", "values", "wrong", ("Tile",), generator="sweep", known=FINDING,
    versions={"openvino": SEEN}, ablated={"opset": True, "inputs": False},
)  # fmt: skip
CASE = replace(CLAIMED, key="case", generator="", first="openvino-tile")


def _session(*buckets: Bucket, absent: str = "") -> Session:
    return Session(
        seed=7, buckets={bucket.key: bucket for bucket in buckets}, absent={"openvino-f32": [absent] if absent else []}
    )


@pytest.mark.parametrize(
    ("case", "due"),
    [
        (CASE, True),
        (replace(CASE, ablated={"opset": False, "inputs": True}), False),
        (replace(CASE, ablated={"inputs": False}), True),  # not decided
        (replace(CASE, operators=("Tile", "Cast", "Mul"), ablated={"opset": False, "inputs": True}), True),
        (replace(CASE, ablated={"opset": False, "inputs": True}, generator="sweep"), True),  # no case of the finding
        (replace(CASE, ablated={"opset": False, "inputs": True}, known="docs/findings/other.py"), True),
    ],
)
def test_a_case_of_the_finding_that_is_wrong_by_another_cause_denies_it(case: Bucket, due: bool) -> None:
    assert is_believed(CLAIMED, _session(case)) is due


def test_a_case_of_the_finding_that_is_not_run_here_says_neither() -> None:
    judged = replace(CASE, ablated={"opset": False, "inputs": True})
    unjudged = replace(CASE, key="unjudged", kind="unjudged", ablated={})
    assert not is_believed(CLAIMED, _session(judged, unjudged))
    assert is_believed(CLAIMED, _session(unjudged))


@pytest.mark.parametrize(
    ("version", "absent", "due"),
    [(SEEN, FINDING, True), ("2024.6.0", FINDING, False), ("2024.6.0", "docs/findings/other.py", True)],
)
def test_a_release_in_which_its_cases_are_right_does_not_have_it(version: str, absent: str, due: bool) -> None:
    claimed = replace(CLAIMED, versions={"openvino": version})
    assert is_believed(claimed, _session(absent=absent)) is due


def test_an_earlier_cause_of_the_same_history_is_believed() -> None:
    assert is_believed(
        replace(CLAIMED, known="/history/triage/one", versions={}), _session(absent="/history/triage/one")
    )

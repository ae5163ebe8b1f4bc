"""Outputs that prove nothing beside others that do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.evidence import blocking
from assay.core.finding import Finding, FindingCode, facts
from assay.judge.words.warnings_text import passed_over

POOR_REFERENCE = Finding("degenerate", "scores", FindingCode.REFERENCE_CONSTANT, facts(value=0.1, elements=640))

GOOD = Comparison("scores", "float32", (1, 10), 1, 10)
CONSTANT = Comparison("mask", "float32", (1, 4), 1, 4, degenerate=POOR_REFERENCE, uninformative=True)
DOUBTED = Comparison("boxes", "float32", (1, 4), 1, 4, degenerate=POOR_REFERENCE)
COUNT = Comparison("count", "int64", (), 1, 1)
WRONG = Comparison("scores", "float32", (1, 10), 1, 10, findings=(Finding("values", "scores"),))

CASES: dict[str, tuple[list[Comparison], list[str]]] = {
    "others carry it": ([CONSTANT, GOOD], []),
    "nothing else": ([CONSTANT], ["mask"]),
    "a count carries nothing": ([CONSTANT, COUNT], ["mask"]),
    "what is wrong carries nothing": ([CONSTANT, WRONG], ["mask"]),
    "a doubt about the output stays": ([DOUBTED, GOOD, CONSTANT], ["boxes"]),
    "nothing poor": ([GOOD, COUNT], []),
}


@pytest.mark.parametrize("name", CASES)
def test_what_keeps_the_answer_open(name: str) -> None:
    given, open_ones = CASES[name]
    assert [comparison.output for comparison in blocking(given)] == open_ones


def test_what_the_answer_does_not_rest_on_is_told() -> None:
    bounds = Comparison("y", "uint8", (1, 100), 1, 100, share_at_bounds=0.75)
    assert list(passed_over([CONSTANT, GOOD, bounds])) == [
        "output 'mask': the reference is constant (0.1) in all 640 elements: it was compared, and proves nothing; "
        "the answer rests on 'scores', 'y'",
        "output 'y': 75 % of the reference are at the bounds of uint8: there any larger value would have passed; the answer rests on "
        "the other elements",
    ]
    assert list(passed_over([CONSTANT])) == []


@pytest.mark.parametrize(
    ("dtype", "notes"),
    [
        ("float32", {"output 'mask' depends on no input: it is the same whatever is fed"}),
        ("int64", set()),
        ("bool", set()),
    ],
)
def test_floats_that_no_input_reaches_are_told_once(dtype: str, notes: set[str]) -> None:
    constant = replace(CONSTANT, dtype=dtype, constant_by_graph=True)
    assert set(passed_over([constant, GOOD, replace(constant, at="batch=17")])) == notes

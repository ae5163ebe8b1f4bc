"""Each code has its sentence, from the facts that come with it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from assay.core.finding import Finding, FindingCode, WorstElement, facts
from assay.core.node_error import NodeSummary, Tapping
from assay.judge.words.finding_text import _TEXTS, finding_text, names_its_output, summary_text

SOURCE = Path(__file__).parents[4] / "packages" / "assay" / "src" / "assay"
MADE = {"kind", "output", "about", "About", "first", "exact", "shown", "broken"}
"""What the table itself puts in."""
BY_HAND = {
    "constant",
    "percent",
    "listed",
    "outside_percent",
    "coarser",
    "published",
    "wrong_use",
    "sample",
    "fed",
    "suspect",
    "also",
}


@cache
def _sources() -> list[str]:
    """Of all but the table of sentences."""
    return [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.name != "finding_text.py"]


def test_every_code_has_a_sentence() -> None:
    assert _TEXTS.keys() == set(FindingCode)


def test_every_fact_of_a_sentence_is_recorded_somewhere() -> None:
    recorded = {
        word.arg
        for path in SOURCE.rglob("*.py")
        if "facts" in (source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("facts", "facts_seen")
        for word in node.keywords
    }
    asked = {name for text in _TEXTS.values() for _, name, _, _ in Formatter().parse(text) if name}
    assert asked - MADE - BY_HAND <= recorded


@pytest.mark.parametrize("code", FindingCode)
def test_every_code_is_used(code: FindingCode) -> None:
    if code in (FindingCode.NAN, FindingCode.INFINITY, FindingCode.LOWEST_FOR_INFINITY, FindingCode.BARE):
        return  # by their kind
    name = f"FindingCode.{code.name}"
    assert any(name in source for source in _sources())


def test_elements_that_are_not_all_shown_end_in_dots() -> None:
    first = WorstElement((0, 3), float("nan"), 2.0)
    two = Finding("nan", "y", FindingCode.NAN, facts(count=2), (first,))
    assert finding_text(two) == "2 elements have NaN on one side only, at [0, 3]: expected nan, got 2 ..."
    assert two == Finding("nan", "y", FindingCode.NAN, facts(count=2), (WorstElement((0, 3), float("nan"), 2.0),))
    assert len({two, Finding("nan", "y", FindingCode.NAN, facts(count=1), (first,))}) == 2


def test_a_finding_about_another_says_both() -> None:
    inner = Finding("shape", "y", FindingCode.SHAPE, facts(sample=0, seen=(1,), due=(2, 3)))
    outer = Finding("shape", "y", FindingCode.AT_SIZES, facts(sizes="batch=17"), about=inner)
    assert finding_text(outer) == "at batch=17: Sample 0: output 'y' has shape [1] where [2, 3] is expected."
    assert names_its_output(outer)
    assert not names_its_output(Finding("values", "y", FindingCode.BEYOND_LIMITS))


def test_what_a_flow_computes_in_a_coarser_type_is_listed() -> None:
    seen = facts(
        asked="float32", operators=("Conv, MatMul", "weights"), dtypes=("int8", "int4"), counts=(3, 2), allowed=(0, 1)
    )
    assert finding_text(Finding("precision", "", FindingCode.LOWER_PRECISION, seen)) == (
        "this float32 flow computes in a coarser type than it promises: Conv, MatMul in int8 (the model has none); weights in int4 (2 of "
        "them, and the model has 1)."
    )


def test_the_first_wrong_node_is_named_with_what_the_taps_changed() -> None:
    missing = Finding("missing_output", "y", FindingCode.NODE_OUTPUT_MISSING)
    wrong = NodeSummary(4, 0, ("a (Conv)", "b (Relu)"), missing, Tapping("y", 0.25))
    assert summary_text(wrong) == (
        "the first wrong node is a (Conv) (and 1 more: b (Relu)): output 'y' is missing; the tapped engine's output 'y' moved by 0.25 of "
        "its norm: a fusion that ends at a tap is not judged"
    )
    assert summary_text(NodeSummary(4, 1)) == "4 nodes are right on their own inputs, 1 could not be judged"

"""Each constraint has its sentence, from the facts that come with it wherever it is raised."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import numpy as np
import pytest

from assay.core.constraint import Constraint, ConstraintCode, unmet_constraint, unmet_note
from assay.core.note import NoteCode, noted
from assay.judge.words.constraint_text import _TEXTS, constraint_text
from assay.judge.words.note_text import note_text

SOURCE = Path(__file__).parents[4] / "packages" / "assay" / "src" / "assay"
MADE = {
    ConstraintCode.BROADCAST: {"joined": "shapes"},
    ConstraintCode.EXPORTED_SIZES: {"end": "most"},
    ConstraintCode.RANGE_OUTSIDE: {"stated": "low high"},
}
"""What a sentence says besides the facts, and the facts that it is made of."""


def _raised() -> Iterator[tuple[ConstraintCode, set[str], str]]:
    """Code, facts and place of each."""
    for path in SOURCE.rglob("*.py"):
        if "ConstraintCode" not in (source := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Conflict", "equal"):
                codes = [
                    arg.attr
                    for arg in node.args
                    if isinstance(arg, ast.Attribute) and "ConstraintCode" in ast.unparse(arg)
                ]
                given = {word.arg for word in node.keywords if word.arg}
                given |= {"one", "other"} if ast.unparse(node.func) == "equal" else set()
                for code in codes:
                    yield ConstraintCode[code], given, f"{path}:{node.lineno}"


def test_every_code_has_a_sentence() -> None:
    assert _TEXTS.keys() == set(ConstraintCode)


def test_each_comes_with_the_facts_of_its_sentence() -> None:
    raised = list(_raised())
    by_users = {one for one in ConstraintCode if one.name.startswith(("EXPORTED", "RANGE"))}
    assert {code for code, _, _ in raised} == set(ConstraintCode) - by_users - {ConstraintCode.EMPTY_OUTPUT}
    for code, given, place in raised:
        shown = {name for _, name, _, _ in Formatter().parse(_TEXTS[code]) if name}
        made = MADE.get(code, {})
        assert given == (shown - made.keys()) | {part for of in made.values() for part in of.split()}, place


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (
            Constraint(ConstraintCode.EXPORTED_SIZES, {"dimension": "s", "size": 64, "least": 1}),
            "sizes 1 to any of 's', and 64 is stated",
        ),
        (
            Constraint(ConstraintCode.RANGE_OUTSIDE, {"input": "ids", "last": 2.0, "high": 5.0}, "Gather", "rows"),
            "Gather 'rows' takes 0 to 2 of input 'ids', and any to 5 is stated",
        ),
        (
            Constraint(ConstraintCode.BROADCAST, {"shapes": ("[?, 4]", "[6]")}, "Add", "a"),
            "Add 'a': shapes [?, 4] and [6] do not broadcast",
        ),
        (Constraint(ConstraintCode.NO_SHAPE, {"sizes": (-3, 2)}), "[-3, 2] is no shape"),
    ],
)
def test_sentences(constraint: Constraint, text: str) -> None:
    assert text in constraint_text(constraint)
    assert unmet_constraint(unmet_note(constraint)) == constraint


def test_numbers_of_any_library_and_size_are_written() -> None:
    facts = {"elements": 2**70, "rest": np.int64(3), "shape": "[N]", "wanted": (np.int64(-1), 3)}
    assert "[N] has 2**70 elements, no multiple of the 3 of [-1, 3]" in constraint_text(
        Constraint(ConstraintCode.RESHAPED_MULTIPLE, facts)
    )


def test_inputs_that_nobody_finds_say_why_and_what_to_state() -> None:
    unmet = unmet_note(Constraint(ConstraintCode.AXIS_OUTSIDE, {"axis": 3, "rank": 2}, "Concat", "c"))
    known = noted(
        NoteCode.NO_INPUTS, model="m.onnx", unmet=unmet, dimensions=("N", "T"), sizes=(1, 16), stated=("T",), ranges=1
    )
    assert note_text(known) == (
        "no inputs were found that m.onnx takes: Concat 'c': axis 3 is outside of rank 2 (tried with N=1, T=16); state other values with "
        "--input-range or --input-value, or state other sizes with --dim T=SIZE, or give a golden with --golden"
    )


def test_a_constraint_that_another_version_recorded_is_named() -> None:
    known = noted(NoteCode.UNMET, constraint="nobody_knows_it", operator="Add", node="a")
    assert note_text(known) == (
        "unmet (constraint: nobody_knows_it, operator: Add, node: a), as another version of Assay recorded it"
    )

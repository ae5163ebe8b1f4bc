"""Each note has its sentence, from the facts that come with it wherever it is noted."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter

from assay.core.note import NoteCode, noted
from assay.judge.note_text import _MADE, _TEXTS, note_text

SOURCE = Path(__file__).parents[3] / "packages" / "assay" / "src" / "assay"

OF_AN_OUTPUT = {
    NoteCode.OUTPUT_NOT_EVALUATED,
    NoteCode.SHAPE_BY_ROUNDING,
    NoteCode.LOST_TO_NOISE,
    NoteCode.ELEMENTS_NOT_JUDGED,
}
"""Why an output has no tolerance: the comparator adds which it is."""


def _recorded() -> list[tuple[str, set[str], str]]:
    """Code, facts and place of each note."""
    return [
        (code.attr, {word.arg for word in node.keywords if word.arg}, f"{path}:{node.lineno}")
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "noted"
        for code in ast.walk(node.args[0])
        if isinstance(code, ast.Attribute) and ast.unparse(code.value) == "NoteCode"
    ]


def test_every_code_has_a_sentence_and_is_noted_somewhere() -> None:
    assert _TEXTS.keys() == set(NoteCode)
    assert {code for code, _, _ in _recorded()} == {code.name for code in NoteCode}


def test_each_note_comes_with_the_facts_of_its_sentence() -> None:
    for code, given, place in _recorded():
        asked = {name for _, name, _, _ in Formatter().parse(_TEXTS[NoteCode[code]]) if name}
        made = NoteCode[code] in _MADE
        given |= {"output"} if NoteCode[code] in OF_AN_OUTPUT else set()
        assert asked <= given or made, place
        assert given <= asked or made, place


def test_words_of_others_are_not_read_as_a_pattern() -> None:
    told = noted(NoteCode.NO_QUANTIZED_REFERENCE, error="no kernel for {dtype}")
    assert note_text(told) == "the quantized model has no reference answers: no kernel for {dtype}"

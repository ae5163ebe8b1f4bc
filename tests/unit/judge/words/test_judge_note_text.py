"""Each note has its sentence, from the facts that come with it wherever it is noted."""

from __future__ import annotations

import ast
import enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from string import Formatter

import pytest

from assay.core import note, refusals
from assay.core.note import Note, NoteCode, noted
from assay.judge.words.note_text import _MADE, _TEXTS, note_text

SOURCE = Path(__file__).parents[4] / "packages" / "assay" / "src" / "assay"

OF_AN_OUTPUT = {
    NoteCode.OUTPUT_NOT_EVALUATED,
    NoteCode.SHAPE_BY_ROUNDING,
    NoteCode.LOST_TO_NOISE,
    NoteCode.ELEMENTS_NOT_JUDGED,
}
"""Why an output has no tolerance: the comparator adds which it is."""


CODES: dict[str, type[enum.StrEnum]] = {
    var.__name__: var
    for module in (
        note,
        *(import_module(f"{refusals.__name__}.{submodule.name}") for submodule in iter_modules(refusals.__path__)),
    )
    for var in vars(module).values()
    if isinstance(var, type) and issubclass(var, enum.StrEnum) and var.__module__ == module.__name__
}
"""Each enumeration of codes, by its name."""


def _recorded() -> list[tuple[enum.StrEnum, set[str], str]]:
    """Code, facts and place of each note."""
    return [
        (
            CODES[ast.unparse(code.value)][code.attr],
            {word.arg for word in node.keywords if word.arg},
            f"{path}:{node.lineno}",
        )
        for path in SOURCE.rglob("*.py")
        if "noted" in (source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "noted"
        for code in ast.walk(node.args[0])
        if isinstance(code, ast.Attribute) and ast.unparse(code.value) in CODES
    ]


def test_every_code_has_a_sentence_and_is_noted_somewhere() -> None:
    known = [code for codes in CODES.values() for code in codes]
    assert {"NoteCode", "ConversionCode"} <= CODES.keys()
    assert len(known) == len(set(known)), "two codes of one name"
    assert _TEXTS.keys() == set(known)
    assert {code for code, _, _ in _recorded()} == set(known)


def _made_from() -> dict[str, tuple[set[str], set[str]]]:
    """Of each code whose sentence says more than its facts: the facts that this is made from, and the names that it gives."""
    tree = ast.parse((SOURCE / "judge" / "words" / "note_text.py").read_text(encoding="utf-8"))
    (table,) = (
        node.value for node in tree.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_MADE"
    )
    assert isinstance(table, ast.Dict)
    names_by_code: dict[str, tuple[set[str], set[str]]] = {}
    for code, made in zip(table.keys, table.values, strict=True):
        assert isinstance(code, ast.Attribute)
        assert isinstance(made, ast.Lambda)
        assert isinstance(made.body, ast.Dict)
        read = [node for node in ast.walk(made.body) if isinstance(node, ast.Subscript) and _is_facts(node.value)]
        assert len(read) == sum(map(_is_facts, ast.walk(made.body))), f"{code.attr}: facts are read by name alone"
        names = {ast.literal_eval(part.slice) for part in read}
        names_by_code[code.attr] = names, {ast.literal_eval(key) for key in made.body.keys if key is not None}
    return names_by_code


def _is_facts(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "of"


def test_each_note_comes_with_the_facts_of_its_sentence() -> None:
    made_from = _made_from()
    assert made_from.keys() == {code.name for code in _MADE}
    for code, given, place in _recorded():
        read, made = made_from.get(code.name, (set(), set()))
        shown = {name for _, name, _, _ in Formatter().parse(_TEXTS[code]) if name}
        given |= {"output"} if code in OF_AN_OUTPUT else set()
        assert made <= shown, place
        assert given == read | (shown - made), place


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (
            noted(NoteCode.TIES, output="y", count=1, margin="m", index=(0,), expected=1.0, actual=2.0),
            "output 'y' has 1 tie: an answer that differs where m is decided by less than the noise of a correct flow, at [0]: expected "
            "1, got 2",
        ),
        (
            noted(NoteCode.MESSAGES_IGNORED, count=1),
            "1 message on the worker's connection did not come from it or answered nothing: ignored",
        ),
        (
            noted(NoteCode.COMPANION_LEFT_OUT, count=1, error="e"),
            "1 sample of the golden's companion was left out, for this engine: e",
        ),
        (
            noted(NoteCode.COMPANION_LEFT_OUT, count=2, error="e"),
            "2 samples of the golden's companion were left out, for this engine: e",
        ),
        (noted(NoteCode.ANSWERS_EMPTY, empty=1, count=1), "1 of 1 answer was empty"),
        (noted(NoteCode.ANSWERS_EMPTY, empty=1, count=3), "1 of 3 answers was empty"),
        (noted(NoteCode.ANSWERS_EMPTY, empty=2, count=3), "2 of 3 answers were empty"),
        (
            noted(NoteCode.SAMPLES_SET_ASIDE, output="y", numbers=(2,), samples=3, share=0.5),
            "output 'y': 1 of 3 samples proves nothing by passing (number 2): rounding alone moves it by up to 50 % of the signal; the "
            "others decide",
        ),
        (
            noted(NoteCode.FEW_IN_PRECISION, count=1, operators=4, asked="int8", metric="int8"),
            '1 of 4 computing operators runs in int8; demand more with --require "precision.int8 >= NUMBER"',
        ),
        (
            noted(NoteCode.DRIFTED, calls=1, outputs=("y",), apart=(0.5,)),
            "fed its own state for up to 1 call, the engine ends off the reference by at most: 'y' 0.5",
        ),
    ],
)
def test_one_is_no_more_than_one(one: Note, text: str) -> None:
    assert note_text(one) == text


def test_words_of_others_are_not_read_as_a_pattern() -> None:
    told = noted(NoteCode.NO_QUANTIZED_REFERENCE, error="no kernel for {dtype}")
    assert note_text(told) == "the quantized model has no reference answers: no kernel for {dtype}"

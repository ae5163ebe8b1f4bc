"""Where a source fills a field of a record with words, or hands such a field on with a note."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from raised_words import called, has_words

NOTING = {"noted", "Note", "NativeWarning", "facts"}


@dataclass(frozen=True)
class Record:
    """A class with fields; `bases` by their names alone."""

    fields: list[str]
    bases: list[str]


def records_of(tree: ast.Module) -> dict[str, Record]:
    """By their names."""
    return {node.name: _record(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _record(node: ast.ClassDef) -> Record:
    fields = [
        part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]
    return Record(fields, [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases])


def worded_fields(tree: ast.Module, elsewhere: Mapping[str, Record]) -> Iterator[tuple[str, int]]:
    """`Record.field`, and the line where it is given a text of several words. `elsewhere` are the records of other sources."""
    records = {**elsewhere, **records_of(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or (record := called(node)) not in records:
            continue
        named = [(word.arg, word.value) for word in node.keywords]
        for field, given in (*zip(_fields(record, records), node.args, strict=False), *named):
            if _has_own_words(given, records):
                yield f"{record}.{field}", given.lineno


def _fields(name: str, records: Mapping[str, Record], below: tuple[str, ...] = ()) -> list[str]:
    """In their order, those of the bases first."""
    if name not in records or name in below:
        return []
    inherited = [field for base in records[name].bases for field in _fields(base, records, (*below, name))]
    return [*inherited, *records[name].fields]


def _has_own_words(given: ast.expr, records: Mapping[str, Record]) -> bool:
    """But for those of records inside of it, which are looked at by themselves."""
    if isinstance(given, ast.Call) and called(given) in records:
        return False
    if isinstance(given, ast.Tuple | ast.List):
        return any(_has_own_words(part, records) for part in given.elts)
    return has_words(given, spaced=True)


def handed_on(tree: ast.AST, fields: Collection[str]) -> Iterator[int]:
    """The lines where a note is given one of these fields of a record."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in NOTING:
            given = [*node.args, *(word.value for word in node.keywords)]
            parts = (part for argument in given for part in ast.walk(argument))
            if any(isinstance(part, ast.Attribute) and part.attr in fields for part in parts):
                yield node.lineno

"""What the files of a submission are to one another: names that one hands on, tables that another could change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from assay_zoo.artifacts.code_names import MAIN, Meanings, imported_from, meanings
from assay_zoo.artifacts.known_modules import HARMLESS
from assay_zoo.artifacts.written_names import bound_here

_LONGEST = 100


class FileNames(msgspec.Struct, frozen=True, kw_only=True):
    """Of one file. `hands_on` are its names that stand for something of another module, `stars` the files of which it has all names,
    `tables` its own lists, sets and dicts, `speaks_of` the names that it asks of a module, or may."""

    hands_on: Meanings = {}
    stars: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    speaks_of: tuple[str, ...] = ()


class OtherFiles(msgspec.Struct, frozen=True, kw_only=True):
    """To one file. `hands_on` by the last part of a file's name, `modules` are the dotted names of all, `tables` the names of all lists,
    sets and dicts of files, `kept` those of this file that nobody asks of a module."""

    hands_on: dict[str, Meanings] = {}
    modules: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


def file_names(tree: ast.AST) -> FileNames:
    nodes = list(ast.walk(tree))
    stars = [
        imported_from(one)
        for one in nodes
        if isinstance(one, ast.ImportFrom) and any(each.name == "*" for each in one.names)
    ]
    named = {name for one in nodes for name in _spoken_of(one, any_name=bool(stars))}
    return FileNames(
        hands_on=meanings(tree, HARMLESS),
        stars=tuple(one.rpartition(".")[2] for one in stars),
        tables=tuple(sorted(_tables(tree, nodes))),
        speaks_of=tuple(sorted(one for one in named if one.isidentifier() and len(one) <= _LONGEST)),
    )


def _spoken_of(node: ast.AST, *, any_name: bool) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield from node.name.split(".")
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from node.value.split(".")
    elif isinstance(node, ast.MatchClass):
        yield from node.kwd_attrs
    elif isinstance(node, ast.Name) and any_name:
        yield node.id


def _tables(tree: ast.AST, nodes: list[ast.AST]) -> set[str]:
    """Those of a class are reached through it, by whoever has it."""
    shown = {
        target.id
        for one in nodes
        if isinstance(one, ast.Assign | ast.AnnAssign) and isinstance(one.value, ast.List | ast.Set | ast.Dict)
        for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
        if isinstance(target, ast.Name)
    }
    of_classes = {name for one in nodes if isinstance(one, ast.ClassDef) for name in bound_here(one)}
    return (shown & bound_here(tree)) - of_classes


def other_files(names: Mapping[str, FileNames]) -> dict[str, OtherFiles]:
    """For each file of a submission, by its path."""
    hands_on: dict[str, Meanings] = {}
    for path, one in names.items():
        for stem in {_stem(path), MAIN}:
            _merge(hands_on.setdefault(stem, {}), one.hands_on)
    for _ in names:  # all names of a file that has all names of another, and so on
        for path, one in names.items():
            for star in one.stars:
                _merge(hands_on[_stem(path)], hands_on.get(star or MAIN, {}))
    modules = frozenset(end for path in names for end in _ends(path))
    tables = frozenset(table for one in names.values() for table in one.tables)
    spoken = {name for one in names.values() for name in one.speaks_of}  # a file can import itself
    return {
        path: OtherFiles(hands_on=hands_on, modules=modules, tables=tables, kept=frozenset(one.tables) - spoken)
        for path, one in names.items()
    }


def alone(tree: ast.AST) -> OtherFiles:
    """To a file that is the only one."""
    return other_files({f"{MAIN}.py": file_names(tree)})[f"{MAIN}.py"]


def _merge(into: Meanings, names: Meanings) -> None:
    for name, paths in names.items():
        into[name] = list(dict.fromkeys((*into.get(name, ()), *paths)))


def _stem(path: str) -> str:
    """The name by which others import it."""
    file = PurePosixPath(path)
    return file.parent.name if file.stem == "__init__" else file.stem


def _ends(path: str) -> Iterator[str]:
    """Its dotted name, as it may be from any folder."""
    file = PurePosixPath(path)
    parts = (file.parent if file.stem == "__init__" else file.with_suffix("")).parts
    return (".".join(parts[at:]) for at in range(len(parts)))

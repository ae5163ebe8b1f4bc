"""What the files of a submission are to one another: names that one hands on, tables that another could change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from assay_zoo.artifacts.code_names import imported_from, meanings
from assay_zoo.artifacts.followed_names import MAIN, NamedFiles
from assay_zoo.artifacts.known_modules import HARMLESS
from assay_zoo.artifacts.written_names import bound_here

_LONGEST = 100


MOST_NAMES = 5000
"""Of one file, that it hands on or speaks of: no person reads more."""


class FileNames(msgspec.Struct, frozen=True, kw_only=True):
    """Of one file. `hands_on` are its names that stand for something of another module, `stars` the files of which it has all names,
    `tables` its own lists, sets and dicts, `defines` what is a function or class, or of another file, as soon as it is imported,
    `speaks_of` the names that it asks of a module, or may."""

    hands_on: dict[str, list[str]] = {}
    stars: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    speaks_of: tuple[str, ...] = ()

    def too_many(self) -> bool:
        handed = sum(map(len, self.hands_on.values()))
        return max(handed, len(self.stars), len(self.tables), len(self.speaks_of)) > MOST_NAMES


class OtherFiles:
    """To one file: `files` of the submission by their dotted names, all the same to all of its files, and `kept`, the lists, sets and
    dicts of this one that nobody asks of a module."""

    def __init__(self, files: SubmissionFiles, kept: frozenset[str]) -> None:
        self.files, self.kept = files, kept


class SubmissionFiles(NamedFiles):
    """`modules` are the dotted names of all, `tables` the names of all lists, sets and dicts, `spoken` those that one asks of a module."""

    def __init__(self, names: Mapping[str, FileNames]) -> None:
        super().__init__()
        for path, one in names.items():
            self.add(_dotted_name(path), one.hands_on, one.stars, one.defines)
        self.close()
        self.modules = frozenset(end for path in names for end in _ends(path))
        self.tables = frozenset(table for one in names.values() for table in one.tables)
        self.spoken = {name for one in names.values() for name in one.speaks_of}
        self.mixed = "__path__" in self.spoken


def file_names(tree: ast.AST) -> FileNames:
    nodes = list(ast.walk(tree))
    stars = [
        imported_from(one)
        for one in nodes
        if isinstance(one, ast.ImportFrom) and any(each.name == "*" for each in one.names)
    ]
    own = meanings(tree, HARMLESS)
    named = {name for one in nodes for name in _spoken_of(one, any_name=bool(stars))}
    return FileNames(
        hands_on=own,
        stars=tuple(dict.fromkeys(stars)),
        tables=tuple(sorted(_tables(tree, nodes))),
        defines=tuple(sorted(_defined(tree))),
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
    elif isinstance(node, ast.Name) and (any_name or node.id == "__path__"):
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


def _defined(tree: ast.AST) -> Iterator[str]:
    """By a statement that is run whenever the file is imported."""
    for one in tree.body if isinstance(tree, ast.Module) else ():
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.ImportFrom):
            yield from (each.asname or each.name for each in one.names)


def other_files(names: Mapping[str, FileNames]) -> dict[str, OtherFiles]:
    """For each file of a submission, by its path."""
    files = SubmissionFiles(names)  # a file can import itself
    return {path: OtherFiles(files, frozenset(one.tables) - files.spoken) for path, one in names.items()}


def alone(tree: ast.AST) -> OtherFiles:
    """To a file that is the only one."""
    return other_files({f"{MAIN}.py": file_names(tree)})[f"{MAIN}.py"]


def _parts(path: str) -> tuple[str, ...]:
    file = PurePosixPath(path)
    return (file.parent if file.stem == "__init__" else file.with_suffix("")).parts


def _dotted_name(path: str) -> str:
    """By which others import it, from the folder of the submission."""
    return ".".join(_parts(path)) or "__init__"


def _ends(path: str) -> Iterator[str]:
    """Its dotted name, as it may be from any folder."""
    parts = _parts(path)
    return (".".join(parts[at:]) for at in range(len(parts)))

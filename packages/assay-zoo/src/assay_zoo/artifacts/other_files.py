"""What the files of a submission are to one another: names that one hands on, tables that another could change."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from assay_zoo.artifacts.code_names import imported_from, meanings, names_of_star
from assay_zoo.artifacts.environment import CAPTURING
from assay_zoo.artifacts.followed_names import MAIN, NamedFiles
from assay_zoo.artifacts.known_modules import HARMLESS
from assay_zoo.artifacts.scopes import bound_here
from assay_zoo.artifacts.written_names import WrittenNames

_LONGEST = 100
MOST_NAMES = 5000
"""Of one file, that it hands on or speaks of: no person reads more."""
_PACKAGE = ("__path__", "__package__", "__spec__", "__name__")
"""By which Python knows where the files of a package are."""


class FileNames(msgspec.Struct, frozen=True, kw_only=True):
    """Of one file. `hands_on` are its names that stand for something of another module, `stars` the files of which it has all names,
    `tables` its own lists, sets and dicts, `defines` what is a function or class, or of another file, as soon as it is imported,
    `written` the code of its texts and of its tables of texts, nothing for a name that is always of another file, `unread` its other
    names, `changes` the names of modules with which it does more than to look at them, or may, `classes` its own ones, `asks` the
    attributes that it asks for, and texts that may name one, `of_names` as `NAME.ATTRIBUTE` what it asks of names of other files."""

    hands_on: dict[str, list[str]] = {}
    stars: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    written: dict[str, tuple[str, ...]] = {}
    unread: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    of_names: tuple[str, ...] = ()

    def too_many(self) -> bool:
        handed = sum(map(len, self.hands_on.values()))
        return max(handed, *map(len, (self.stars, self.tables, self.written, self.changes, self.asks))) > MOST_NAMES


class OtherFiles:
    """To one file, at `path`: `files` of the submission by their dotted names, all the same to all of its files, and `kept`, the lists,
    sets and dicts of this one that no other changes."""

    def __init__(self, files: SubmissionFiles, kept: frozenset[str], path: str) -> None:
        self.files, self.kept, self.path = files, kept, path


class SubmissionFiles(NamedFiles):
    """`modules` are the dotted names of all, `tables` the names of all lists, sets and dicts, `changed` those that may be changed, `asks`
    the attributes that are asked for, each with the number of files that do, `unbound` the methods that one asks of a class of another."""

    def __init__(self, names: Mapping[str, FileNames]) -> None:
        super().__init__()
        self._written: dict[str, list[Mapping[str, tuple[str, ...]]]] = {}
        self._unread: dict[str, set[str]] = {}
        self._classes: dict[str, set[str]] = {}
        for path, names_of in names.items():
            self.add(_dotted_name(path), names_of.hands_on, names_of.stars, names_of.defines)
            self._written.setdefault(_dotted_name(path), []).append(names_of.written)
            self._unread.setdefault(_dotted_name(path), set()).update(names_of.unread)
            self._classes.setdefault(_dotted_name(path), set()).update(names_of.classes)
        self.close()
        self.asks = Counter(name for file in names.values() for name in set(file.asks))
        bound = frozenset(name for file in names.values() for name in (*file.unread, *file.written))
        asked = (name.rpartition(".") for file in names.values() for name in file.of_names)
        self.unbound = frozenset(method for name, _, method in asked if name in bound)
        self.modules = frozenset(end for path in names for end in _ends(path))
        self.tables = frozenset(table for file in names.values() for table in file.tables)
        self.changed = frozenset(name for file in names.values() for name in file.changes)
        self.mixed = "__path__" in self.changed

    def written_in(self, file: str, name: str) -> list[ast.expr] | None:
        """What a name of a file stands for, of what is written in that file itself; None where it may be anything."""
        every = [names.get(name) for names in self._written[file]]
        if None in every:
            return None
        trees = [ast.parse(text, mode="eval").body for texts in every for text in texts or ()]
        fixed = all(isinstance(expr, ast.Constant | ast.Tuple) for expr in trees)
        return trees if fixed or name not in self.changed else None

    def is_class(self, file: str, name: str) -> bool:
        """Whether a name of a file can be nothing but a class there, or is of another file."""
        return name in self._classes[file] or name in self.hands_on[file]

    def is_unread(self, file: str, name: str) -> bool:
        """Whether a file may give a name anything else."""
        return name in self._unread[file] or bool(self.stars[file])


def file_names(tree: ast.AST, path: str = "") -> FileNames:
    """Of the file that lies at `path` in the submission."""
    nodes = list(ast.walk(tree))
    folder = PurePosixPath(path).parent.parts
    stars = [
        imported_from(node, folder)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names)
    ]
    names = WrittenNames(tree, names_of_star)
    exported = _exported(tree)
    changes = names.asked | {name for node in nodes for name in _changed_by(node, names, exported)}
    written = dict(_written(tree, nodes, names))
    return FileNames(
        hands_on=meanings(tree, HARMLESS, folder),
        stars=tuple(dict.fromkeys(stars)),
        tables=tuple(sorted(_tables(tree, nodes))),
        defines=tuple(sorted(name for name in _defined(tree) if names.times_bound(name) == 1)),
        written=written,
        unread=tuple(sorted(names.bound() - written.keys())),
        changes=tuple(sorted(change for change in changes if change.isidentifier() and len(change) <= _LONGEST)),
        classes=tuple(
            sorted(node.name for node in nodes if isinstance(node, ast.ClassDef) and names.times_bound(node.name) == 1)
        ),
        asks=tuple(sorted({name for node in nodes for name in _asked(node) if len(name) <= _LONGEST})),
        of_names=tuple(sorted(set(_asked_of_names(nodes)))),
    )


def _asked(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield node.attr
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield from (alias.name,) if alias.name != "*" else names_of_star(node.module or "", HARMLESS)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from (part for part in node.value.split(".") if part.isidentifier())


def _asked_of_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Of what `from FILE import NAME` brings, under any name, and of what is asked of anything else by two names."""
    brought = {
        alias.asname or alias.name: alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id in brought:
                yield f"{brought[node.value.id]}.{node.attr}"
            elif isinstance(node.value, ast.Attribute):
                yield f"{node.value.attr}.{node.attr}"


def _changed_by(node: ast.AST, names: WrittenNames, exported: set[int]) -> Iterator[str]:
    """Names of other modules that may be changed, or be handed on to whoever does, beside those of attributes."""
    if isinstance(node, ast.Import):
        yield from (part for alias in node.names for part in alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        named = (alias for alias in node.names if alias.asname not in (None, alias.name) or alias.name in CAPTURING)
        yield from (alias.name for alias in named)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in exported:
        yield from node.value.split(".")
    elif isinstance(node, ast.MatchClass):
        yield from node.kwd_attrs
    elif isinstance(node, ast.Name) and node.id in _PACKAGE:
        yield from ("__path__",) if node.id == "__path__" or not isinstance(node.ctx, ast.Load) else ()
    elif isinstance(node, ast.Name) and names.is_changed(node.id):
        yield node.id


def _exported(tree: ast.AST) -> set[int]:
    """The texts of `__all__`, by which nothing is asked for but by a star."""
    given = [statement for statement in getattr(tree, "body", ()) if isinstance(statement, ast.Assign)]
    lists = [assign.value for assign in given if [getattr(each, "id", "") for each in assign.targets] == ["__all__"]]
    return {id(node) for each in lists for node in ast.walk(each)}


def _written(tree: ast.AST, nodes: list[ast.AST], names: WrittenNames) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each name with the code of all that it is given; nothing of a name that is given anything else than texts."""
    imported = [each for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names]
    for name in {alias.asname or alias.name for alias in imported}:
        if names.is_imported(name):
            yield name, ()
    for name in bound_here(tree) - _of_classes(nodes):
        values = names.all_of(name)
        fixed = all(isinstance(value, ast.Constant | ast.Tuple) for value in values)
        if values and all(map(_is_text, values)) and (fixed or not names.is_handed_on(name)):
            yield name, tuple(map(ast.unparse, values))


def _is_text(value: ast.expr) -> bool:
    """Or a table of texts that are written out, and of pairs of them."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    plain = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.expr_context)
    return isinstance(value, plain) and all(isinstance(node, plain) for node in ast.walk(value))


def _tables(tree: ast.AST, nodes: list[ast.AST]) -> set[str]:
    """Those of a class are reached through it, by whoever has it."""
    shown = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.List | ast.Set | ast.Dict)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    return (shown & bound_here(tree)) - _of_classes(nodes)


def _of_classes(nodes: list[ast.AST]) -> set[str]:
    return {name for node in nodes if isinstance(node, ast.ClassDef) for name in bound_here(node)}


def _defined(tree: ast.AST) -> Iterator[str]:
    """By a statement that is run whenever the file is imported."""
    for stmt in tree.body if isinstance(tree, ast.Module) else ():
        if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield stmt.name
        elif isinstance(stmt, ast.ImportFrom):
            yield from (each.asname or each.name for each in stmt.names)


def other_files(names: Mapping[str, FileNames]) -> dict[str, OtherFiles]:
    """For each file of a submission, by its path."""
    files = SubmissionFiles(names)  # a file can import itself
    return {path: OtherFiles(files, frozenset(name.tables) - files.changed, path) for path, name in names.items()}


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

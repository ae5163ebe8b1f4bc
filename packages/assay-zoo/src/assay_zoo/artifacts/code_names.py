"""Which module or which function of Python a name in a file stands for."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from assay_zoo.artifacts.known_modules import is_elsewhere

MAIN = "__main__"
"""Of the file that is run: any may be."""
MOST_MEANINGS = 8
_USUAL = {"os": "os", "posix": "posix", "np": "numpy", "numpy": "numpy"}
"""What these are called also where nobody in the file imports them."""


class Bound(dict[str, str]):
    """The names of a file that stand for a module or something of one, with where it comes from: `from os import path as p` is
    p: os.path. `files` are the other files of its submission, by the last part of their names, each with the same of its own."""

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        files: Mapping[str, Mapping[str, str]] | None = None,
        packages: Collection[str] = (),
    ) -> None:
        super().__init__(names or {})
        self.files, self._packages = files or {}, packages

    def followed(self, path: str) -> str:
        """From one file of the submission to the next, as far as it is handed on there."""
        for _ in range(len(self.files) + 1):
            parts = path.split(".")
            given = [at for at in range(len(parts) - 1) if parts[at + 1] in self.files.get(parts[at] or MAIN, {})]
            at = next((one for one in given if parts[one]), next(iter(given), None))  # a file before "any file"
            if not is_elsewhere(path, self._packages):
                break
            if at is None:
                break
            path = ".".join([self.files[parts[at] or MAIN][parts[at + 1]], *parts[at + 2 :]])
        return path


Meanings = dict[str, list[str]]
"""Each name with all that it may stand for."""


def meanings(tree: ast.AST, harmless: tuple[str, ...], files: Mapping[str, Sequence[str]] | None = None) -> Meanings:
    """Of the names of a file. `files` say which names `from FILE import *` brings of another file of the submission."""
    found: Meanings = {name: [path] for name, path in _USUAL.items()}
    assigned: list[tuple[str, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name.partition(".")[0]
                _add(found, one.asname or top, one.name if one.asname else top)
        elif isinstance(node, ast.ImportFrom):
            module = imported_from(node)
            names = {one.asname or one.name: one.name for one in node.names}
            if names.pop("*", ""):
                of_file = (files or {}).get(module.rpartition(".")[2] or MAIN, ())
                names |= {name: name for name in (*names_of_star(module, harmless), *of_file)}
            for name, of_module in names.items():
                _add(found, name, f"{module.rstrip('.')}.{of_module}")
        elif isinstance(node, ast.Assign):
            assigned += [(one.id, node.value) for one in node.targets if isinstance(one, ast.Name)]
        elif isinstance(node, ast.NamedExpr):
            assigned.append((node.target.id, node.value))
    for name, value in (*assigned, *assigned):  # a function may stand before what it uses
        for path in [dotted(value, view) for view in views(found)]:
            if path:
                _add(found, name, path)
    return found


def _add(found: Meanings, name: str, path: str) -> None:
    there = found.setdefault(name, [])
    if path not in there and len(there) < MOST_MEANINGS:
        there.append(path)


def views(
    found: Mapping[str, Sequence[str]],
    files: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    packages: Collection[str] = (),
) -> list[Bound]:
    """As often as a name has meanings, so that each is looked at once."""
    files = files or {}
    many = max((len(paths) for names in (found, *files.values()) for paths in names.values()), default=1)
    return [
        Bound(_chosen(found, at), {file: _chosen(names, at) for file, names in files.items()}, packages)
        for at in range(many)
    ]


def _chosen(names: Mapping[str, Sequence[str]], at: int) -> dict[str, str]:
    return {name: paths[min(at, len(paths) - 1)] for name, paths in names.items()}


def dotted(node: ast.AST | None, bound: Bound) -> str:
    """Where the value of an expression comes from, as `module.name`; nothing where it is no name of a module."""
    if isinstance(node, ast.Name):
        return bound.followed(bound.get(node.id, ""))
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, bound)
        return bound.followed(f"{base}.{node.attr}") if base else ""
    if isinstance(node, ast.Call) and node.args:
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            base, name = dotted(node.args[0], bound), _text(node.args[1])
            return bound.followed(f"{base}.{name}") if base and name else ""
        if dotted(node.func, bound) == "importlib.reload":
            return dotted(node.args[0], bound)
    if isinstance(node, ast.Call) and dotted(node.func, bound) == "importlib.import_module":
        return imported_by(node)
    return ""


def imported_from(node: ast.ImportFrom) -> str:
    """Its module, with one dot in front where it is of the submission itself."""
    return f"{'.' if node.level else ''}{node.module or ''}"


def imported_by(call: ast.Call) -> str:
    """The module that a call of `import_module` names, nothing where it is made while it runs."""
    said = {one.arg: one.value for one in call.keywords} | dict(zip(("name", "package"), call.args, strict=False))
    name, package = (_text(said.get(key)) for key in ("name", "package"))
    if name.startswith("."):
        return f"{package}.{name.lstrip('.')}" if package else ""
    return name


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def in_python(path: str, harmless: tuple[str, ...]) -> Any:
    """What the path is in this Python, where its first part is a harmless module of Python itself; else None."""
    top, *rest = path.split(".")
    if top not in harmless or top not in sys.stdlib_module_names:
        return None
    value, at = _module(top), top
    for name in rest:
        if not isinstance(value, ModuleType):
            return None
        at = f"{at}.{name}"
        try:
            value = getattr(value, name)
        except (AttributeError, ImportError):
            value = None if name.startswith("__") else _module(at)
    return value


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def names_of_star(module: str, harmless: tuple[str, ...]) -> list[str]:
    """What `from module import *` brings, for a harmless module of Python itself."""
    value = in_python(module, harmless)
    if not isinstance(value, ModuleType):
        return []
    names = vars(value).get("__all__")
    return list(names if names is not None else (name for name in vars(value) if not name.startswith("_")))


def local_names(tree: ast.AST) -> set[int]:
    """The nodes of names that a function has as its own, so that they stand for no module of the file."""
    own: set[int] = set()
    everywhere = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        body = function.body if isinstance(function.body, list) else [function.body]
        inside = [one for part in body for one in ast.walk(part)]
        given = {one.arg for one in ast.iter_child_nodes(function.args) if isinstance(one, ast.arg)} - everywhere
        given -= {one.asname or one.name.partition(".")[0] for one in inside if isinstance(one, ast.alias)}
        own |= {id(one) for one in inside if isinstance(one, ast.Name) and one.id in given}
    return own


def statements_in(node: ast.ClassDef) -> Iterator[ast.stmt]:
    """What is run in a class itself, not in its functions and classes."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.stmt):
            yield one
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += ast.iter_child_nodes(one)


def given_names(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Values that are given plain names, by which they are known here: those of a class are not."""
    of_classes = {id(one) for node in nodes if isinstance(node, ast.ClassDef) for one in statements_in(node)}
    for node in nodes:
        plain = isinstance(node, ast.Assign) and all(isinstance(one, ast.Name) for one in node.targets)
        if isinstance(node, ast.Assign) and plain and id(node) not in of_classes:
            yield node.value


def functions_around(nodes: Sequence[ast.AST]) -> dict[int, ast.AST]:
    """The innermost function that has a node in its body."""
    found: dict[int, ast.AST] = {}
    for function in nodes:  # the outer ones come first
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update((id(one), function) for part in function.body for one in ast.walk(part))
    return found

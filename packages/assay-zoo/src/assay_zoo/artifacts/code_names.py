"""Which module or which function of Python a name in a file stands for."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from assay_zoo.artifacts.known_modules import HARMLESS

_USUAL = {"os": "os", "posix": "posix", "np": "numpy", "numpy": "numpy"}
"""What these are called also where nobody in the file imports them."""
HERE = ":"
"""In front of a path that begins with another name of the same file."""


Meanings = dict[str, list[str]]
"""Each name of a file with all that it may stand for: `from os import path as p` is p: os.path, `q = p.sep` is q: `:p.sep`."""


def meanings(tree: ast.AST, harmless: tuple[str, ...], folder: Sequence[str] = ()) -> Meanings:
    """Of the names of a file in `folder` of the submission, but for those that `from FILE import *` brings."""
    paths_by_name: dict[str, dict[str, None]] = {name: {path: None} for name, path in _USUAL.items()}

    def add(name: str, path: str) -> None:
        if path:
            paths_by_name.setdefault(name, {})[path] = None

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                add(alias.asname or top, alias.name if alias.asname else top)
        elif isinstance(node, ast.ImportFrom):
            module = imported_from(node, folder)
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if names.pop("*", ""):
                names |= {name: name for name in names_of_star(module, harmless)}
            for name, of_module in names.items():
                add(name, f"{module.rstrip('.')}.{of_module}")
        elif isinstance(node, ast.Assign):
            for target in (expr for expr in node.targets if isinstance(expr, ast.Name)):
                add(target.id, written_path(node.value))
        elif isinstance(node, ast.NamedExpr):
            add(node.target.id, written_path(node.value))
    starred = any(
        isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" for statement in ast.walk(tree)
    )
    return _of_modules({name: list(paths) for name, paths in paths_by_name.items()}, starred=starred)


def _of_modules(paths_by_name: Mapping[str, list[str]], *, starred: bool) -> Meanings:
    """Without what is made of names that stand for no module: with `starred` every other name may come from another file."""
    waiting = [name for name, paths in paths_by_name.items() if any(not path.startswith(HERE) for path in paths)]
    makes: dict[str, list[str]] = {}
    for name, paths in paths_by_name.items():
        for path in paths:
            makes.setdefault(_first(path), []).append(name)
    if starred:
        waiting += [name for name in makes if name not in paths_by_name]
    known = set(waiting)
    while waiting:
        new = set(makes.get(waiting.pop(), ())) - known
        known |= new
        waiting += new
    return {
        name: [path for path in paths if not path.startswith(HERE) or _first(path) in known]
        for name, paths in paths_by_name.items()
        if name in known
    }


def _first(path: str) -> str:
    return path.removeprefix(HERE).partition(".")[0] if path.startswith(HERE) else ""


def written_path(node: ast.AST) -> str:
    """Where the value of an expression comes from, by the names that stand in it; nothing where it is no name of a module."""
    more: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            more.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            name = _text(node.args[1]) if called == "getattr" and len(node.args) > 1 else ""
            if name:
                more += reversed(name.split("."))
                node = node.args[0]
            elif imported := _imports(node):
                return ".".join([imported, *reversed(more)])
            elif last_name(node.func) == "reload":
                node = node.args[0]
            else:
                return ""
        elif isinstance(node, ast.Call):
            return ".".join([module_path, *reversed(more)]) if (module_path := _imports(node)) else ""
        elif isinstance(node, ast.Name):
            return HERE + ".".join([node.id, *reversed(more)])
        else:
            return ""


def last_name(node: ast.AST) -> str:
    """By which an expression calls something."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _imports(call: ast.Call) -> str:
    return imported_by(call) if last_name(call.func) == "import_module" else ""


def imported_from(node: ast.ImportFrom, folder: Sequence[str] = ()) -> str:
    """Its module; where it is of the submission itself, from the submission's own folder on, with one dot in front."""
    above = folder[: max(len(folder) + 1 - node.level, 0)] if node.level else ()
    return f"{'.' if node.level else ''}{'.'.join((*above, *([node.module] if node.module else [])))}"


def imported_by(call: ast.Call) -> str:
    """The module that a call of `import_module` names, nothing where it is made while it runs."""
    arguments = {keyword.arg: keyword.value for keyword in call.keywords} | dict(
        zip(("name", "package"), call.args, strict=False)
    )
    name, package = (_text(arguments.get(key)) for key in ("name", "package"))
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


def names_of_star(module: str, harmless: tuple[str, ...] = HARMLESS) -> list[str]:
    """What `from module import *` brings, for a harmless module of Python itself."""
    value = in_python(module, harmless)
    if not isinstance(value, ModuleType):
        return []
    names = vars(value).get("__all__")
    return list(names if names is not None else (name for name in vars(value) if not name.startswith("_")))


def statements_in(node: ast.ClassDef) -> Iterator[ast.stmt]:
    """What is run in a class itself, not in its functions and classes."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        child = waiting.pop()
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += ast.iter_child_nodes(child)


def given_names(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Values that are given plain names, by which they are known here: those of a class are not."""
    of_classes = {id(stmt) for node in nodes if isinstance(node, ast.ClassDef) for stmt in statements_in(node)}
    for node in nodes:
        plain = isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets)
        if isinstance(node, ast.Assign) and plain and id(node) not in of_classes:
            yield node.value

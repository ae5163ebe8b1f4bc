"""Which module or which function of Python a name in a file stands for."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

_USUAL = {"os": "os", "posix": "posix", "np": "numpy", "numpy": "numpy"}
"""What these are called also where nobody in the file imports them."""


def bound_names(tree: ast.AST, harmless: tuple[str, ...]) -> dict[str, str]:
    """The names that stand for a module or something of one, with where it comes from: `from os import path as p` is p: os.path."""
    bound = dict(_USUAL)
    assigned: list[tuple[str, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name.partition(".")[0]
                bound[one.asname or top] = one.name if one.asname else top
        elif isinstance(node, ast.ImportFrom):
            names = {one.asname or one.name: one.name for one in node.names}
            if names.pop("*", ""):
                names |= {name: name for name in names_of_star(imported_from(node), harmless)}
            bound |= {name: f"{imported_from(node).rstrip('.')}.{one}" for name, one in names.items()}
        elif isinstance(node, ast.Assign):
            assigned += [(one.id, node.value) for one in node.targets if isinstance(one, ast.Name)]
        elif isinstance(node, ast.NamedExpr):
            assigned.append((node.target.id, node.value))
    for name, value in assigned:
        path = dotted(value, bound)
        if path:
            bound.setdefault(name, path)
    return bound


def dotted(node: ast.AST | None, bound: Mapping[str, str]) -> str:
    """Where the value of an expression comes from, as `module.name`; nothing where it is no name of a module."""
    if isinstance(node, ast.Name):
        return bound.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, bound)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Call) and dotted(node.func, bound) == "importlib.import_module":
        return imported_by(node)
    if isinstance(node, ast.Call) and node.args and dotted(node.func, bound) == "importlib.reload":
        return dotted(node.args[0], bound)
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

"""Texts that code gives to what it calls, also by a name: of files among them, those that it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LONGEST = 200


def handed_of(tree: ast.AST, most: int = 500) -> tuple[str, ...]:
    """Texts in calls, and in what is written to a name that a call is given, or that stands in such a value."""
    written: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        for name, value in _written(node):
            if name:
                written.setdefault(name, []).append(value)
    waiting: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    texts: dict[str, None] = {}
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) <= _LONGEST:
                texts[node.value] = None
            waiting += written.pop(_name(node), [])
    return tuple(texts)[:most]


def _written(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, and the values that they are given or that a function of that name answers."""
    if isinstance(node, ast.Assign):
        yield from ((_name(part), node.value) for target in node.targets for part in ast.walk(target))
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value:
        yield _name(node.target), node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield from ((_name(part), node.iter) for part in ast.walk(node.target))
    elif isinstance(node, ast.FunctionDef):
        named = [*node.args.posonlyargs, *node.args.args]
        yield from (
            (each.arg, value) for each, value in zip(reversed(named), reversed(node.args.defaults), strict=False)
        )
        yield from (
            (each.arg, value) for each, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
        )
        yield from ((node.name, part.value) for part in ast.walk(node) if isinstance(part, ast.Return) and part.value)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""

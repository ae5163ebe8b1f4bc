"""What the names of a notebook stand for, functions and loops included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

Bound = Mapping[str, Sequence[ast.AST]]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_GROWING = ("add", "append", "appendleft", "extend", "insert", "update")
"""Methods that put what they are given into what they are called on."""


def original_names(tree: ast.AST) -> Mapping[str, Sequence[str]]:
    """What is imported by a name: as the module itself calls it, alone and after the name of the module."""
    names: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            module = (node.module or "").rpartition(".")[2]
            names.setdefault(alias.asname or alias.name, []).extend((alias.name, f"{module}.{alias.name}"))
    return names


def outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(child, _FUNCTIONS):
            yield from outside_functions(child)


def bound_names(nodes: Sequence[ast.AST]) -> Bound:
    """Each name with all that it stands for, or that is put into it, somewhere."""
    bound: dict[str, list[ast.AST]] = {}
    for node in nodes:
        targets, values = _binding(node)
        for name in (name for target in targets for name in _bound_by(target)):
            bound.setdefault(name, []).extend(values)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.setdefault(node.name, []).append(node)
    return bound


def _binding(node: ast.AST) -> tuple[Sequence[ast.expr], Sequence[ast.AST]]:
    if isinstance(node, ast.Assign):
        return node.targets, [node.value]
    if isinstance(node, ast.AugAssign):
        return [node.target], [node]
    if isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value:
        return [node.target], [node.value]
    if isinstance(node, ast.For | ast.comprehension):
        return [node.target], [node.iter]
    if isinstance(node, ast.withitem) and node.optional_vars:
        return [node.optional_vars], [node.context_expr]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
        return [node.func.value], [*node.args, *(keyword.value for keyword in node.keywords)]
    return [], []


def _bound_by(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _bound_by(each)
    elif isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        yield from _bound_by(target.value)

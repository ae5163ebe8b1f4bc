"""What a notebook feeds to the model: whether it is what the script that readers are given made, as it made it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import msgspec

_RUN = "run"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class FedValues(msgspec.Struct, frozen=True, kw_only=True):
    """`rebound` are names that the code imports and then gives another value, `computed` the functions on whose answers it computes before
    it feeds them, `feeds` whether it feeds anything that can be followed, and `made_by` all names by which that may be made."""

    rebound: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    feeds: bool = False
    made_by: tuple[str, ...] = ()


def fed_values(tree: ast.Module) -> FedValues:
    top = list(_outside_functions(tree))
    bound = _bound(top)
    names = {
        alias.asname or alias.name: alias.name
        for node in top
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    stored = [node.id for node in top if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    fed = [value for node in top if isinstance(node, ast.Call) for value in _fed_to(node, bound)]
    made = [part for value in fed for part in _made_of(value, bound)]
    return FedValues(
        rebound=tuple(dict.fromkeys(names[name] for name in stored if name in names)),
        computed=tuple(dict.fromkeys(name for value in fed for name in _computed(value, bound))),
        feeds=bool(fed),
        made_by=tuple(dict.fromkeys(name for part in made for name in _names(part))),
    )


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(child, _FUNCTIONS):
            yield from _outside_functions(child)


def _fed_to(call: ast.Call, bound: Mapping[str, list[ast.AST]]) -> Iterator[ast.expr]:
    """The values of the table that `session.run` is given, as it stands or by a name."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == _RUN:
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            for table in bound.get(argument.id, []) if isinstance(argument, ast.Name) else [argument]:
                yield from table.values if isinstance(table, ast.Dict) else ()


def _bound(nodes: list[ast.AST]) -> Mapping[str, list[ast.AST]]:
    """Each name with all that it stands for somewhere, functions and loops included."""
    bound: dict[str, list[ast.AST]] = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.setdefault(node.name, []).append(node)
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.comprehension | ast.NamedExpr):
            targets = [node.target]
        value = node if isinstance(node, ast.AugAssign) else getattr(node, "value", getattr(node, "iter", None))
        for name in (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)):
            bound.setdefault(name, []).append(value or node)
    return bound


def _made_of(value: ast.AST, bound: Mapping[str, list[ast.AST]]) -> list[ast.AST]:
    """All that it is made of, names followed."""
    parts, followed = [value], set[str]()
    for part in parts:
        for name in _names(part):
            if name in bound and name not in followed:
                followed.add(name)
                parts += bound[name]
    return parts


def _computed(value: ast.AST, bound: Mapping[str, list[ast.AST]]) -> Iterator[str]:
    """Functions whose answer is an operand of what is fed: `f(x) * 2`, also as `y = f(x)`, `y *= 2`."""
    values = bound.get(value.id, []) if isinstance(value, ast.Name) else [value]
    for part in values:
        operands: list[ast.expr] = []
        if isinstance(part, ast.BinOp):
            operands = [part.left, part.right]
        elif isinstance(part, ast.AugAssign):
            operands = [part.target]
        for operand in operands:
            made = bound.get(operand.id, []) if isinstance(operand, ast.Name) else [operand]
            yield from (name for each in made if isinstance(each, ast.Call) for name in _names(each.func))


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr

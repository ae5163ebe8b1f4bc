"""Whether what a notebook feeds was computed on behind the function that answered it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

import numpy as np

from assay_zoo.artifacts.notebooks.bound_names import Bound, bound_names
from assay_zoo.artifacts.notebooks.scaled_arguments import CHANGING, numpy_function

_RUN = "run"
_SHAPING = frozenset(
    (
        *("array", "asarray", "ascontiguousarray", "astype", "copy", "list", "numpy", "tolist", "tuple"),
        *("concatenate", "expand_dims", "hstack", "reshape", "squeeze", "stack", "transpose", "vstack"),
    )
)
"""Calls that hand on the values that they are given."""
_Followed = tuple[set[tuple[str, bool]], set[tuple[str, bool]]]
"""Functions that answered something, and names that stand for it, each with whether it was computed on since."""


class ComputedValues:
    """Functions whose answer is an operand of what is fed: `f(x) * 2`, also as `y = f(x)`, `y *= 2`."""

    def __init__(self, bound: Bound, outside: ComputedValues | None = None) -> None:
        self._bound = bound
        self._is_inside = outside is not None
        self._by_name: dict[str, _Followed] = {}
        self._by_function: dict[int, set[tuple[str, bool]]] = {}
        self._from_model: set[str] = outside._from_model if outside else _from_model(bound)

    def of(self, tables: Iterable[Sequence[ast.AST]]) -> set[str]:
        """What a table holds as it was answered may be computed on for another value of it."""
        computed = set[str]()
        for values in {tuple(map(ast.dump, table)): table for table in tables}.values():
            answers = {answer for value in values for answer in self._answers(value)}
            computed |= {name for name, changed in answers if changed and (name, False) not in answers}
        return computed

    def _answers(self, value: ast.AST) -> set[tuple[str, bool]]:
        """Functions that answered what this is, each with whether it was computed on."""
        answers, names = self._follow([value])
        for name, changed in names:
            answers |= {(each, changed or before) for each, before in self._answers_of(name)}
        return answers

    def _answers_of(self, name: str) -> set[tuple[str, bool]]:
        """What becomes of a name hides what it was: `y = f(x)`, `y *= 2`."""
        answers, _ = self._through_names({(name, False)})
        return {(each, changed) for each, changed in answers if changed or (each, True) not in answers}

    def _through_names(self, names: Iterable[tuple[str, bool]]) -> _Followed:
        """What the names stand for, and those by which it is found."""
        answers, waiting = set[tuple[str, bool]](), list(names)
        visited = set(waiting)
        for each, changed in waiting:
            if each not in self._by_name:
                self._by_name[each] = self._follow(self._bound.get(each, ()))
            of_it, others = self._by_name[each]
            answers |= {(function, changed or before) for function, before in of_it}
            fresh = {(other, changed or before) for other, before in others} - visited
            visited |= fresh
            waiting += fresh
        return answers, visited

    def _follow(self, values: Sequence[ast.AST]) -> _Followed:
        """Functions and names, each with whether it was computed on."""
        answers, names = set[tuple[str, bool]](), set[tuple[str, bool]]()
        visited, waiting = set[tuple[int, bool]](), [(value, False) for value in values]
        for node, changed in waiting:
            if (id(node), changed) in visited:
                continue
            visited.add((id(node), changed))
            if isinstance(node, ast.Name):
                names.add((node.id, changed))
                continue
            if isinstance(node, ast.Call) and not _handed(node):
                answers |= {(name, changed) for name in names_in(node.func)}
            operation = isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign) and not self._keeps(node)
            after = changed or operation or _computes(node)
            waiting += [(each, after) for each in self._operands(node)]
            waiting += [(each, changed or other) for each, other in self.given_back(node)]
        return answers, names

    def given_back(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """What a call of an own function gives back of its arguments, each with whether it was computed on."""
        if self._is_inside or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return
        for function in self._bound.get(node.func.id, ()):
            if not isinstance(function, ast.FunctionDef) or not (node.args or node.keywords):
                continue
            names = [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
            if id(function) not in self._by_function:
                inside = ComputedValues(
                    {**self._bound, **dict.fromkeys(names, ()), **bound_names(list(ast.walk(function)))}, self
                )
                self._by_function[id(function)] = inside._through_names(inside._follow([function])[1])[1]
            given = [*zip(names, node.args, strict=False), *((each.arg, each.value) for each in node.keywords)]
            names_of_it = self._by_function[id(function)]
            yield from (
                (value, changed) for name, value in given for changed in (True, False) if (name, changed) in names_of_it
            )

    def _operands(self, node: ast.AST) -> Sequence[ast.AST]:
        """The parts of it whose values it has: of a call of an own function what it returns."""
        if isinstance(node, ast.FunctionDef):
            return [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value]
        if not isinstance(node, ast.Call) or _handed(node):
            return _handed(node) if isinstance(node, ast.Call) else list(_operands(node))
        own = self._bound.get(node.func.id, ()) if isinstance(node.func, ast.Name) else ()
        return [function for function in own if isinstance(function, ast.FunctionDef)]

    def _keeps(self, node: ast.AST) -> bool:
        """A list that gets longer (`ids + [0] * n`), or a loop in which the model improves what it is given."""
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [getattr(node, "value", node)]
        longer = isinstance(getattr(node, "op", None), ast.Add) and any(map(self._is_list, sides))
        return longer or not self._from_model.isdisjoint(names_in(node))

    def _is_list(self, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add):
            return self._is_list(node.left) or self._is_list(node.right)
        if isinstance(node, ast.List):
            return not any(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in node.elts)
        named = self._bound.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return isinstance(node, ast.ListComp) or any(isinstance(each, ast.List | ast.ListComp) for each in named)


def _from_model(bound: Bound) -> set[str]:
    """Names that stand for something that the model answered, or that is made of it."""
    users: dict[str, set[str]] = {}
    for name, parts in bound.items():
        for used in {used for part in parts for used in names_in(part)}:
            users.setdefault(used, set()).add(name)
    answered = {name for name, parts in bound.items() if any(is_run(each) for part in parts for each in ast.walk(part))}
    waiting = list(answered)
    for name in waiting:
        fresh = users.get(name, set()) - answered
        answered |= fresh
        waiting += fresh
    return answered


def _computes(node: ast.AST) -> bool:
    """Whether it gives other values than those that it is given, or another order of them."""
    if isinstance(node, ast.Subscript):
        return any(isinstance(each, ast.Slice) and isinstance(each.step, ast.UnaryOp) for each in ast.walk(node.slice))
    name = numpy_function(node)
    return name in CHANGING or isinstance(getattr(np, name or "name", None), np.ufunc)


def _handed(call: ast.Call) -> list[ast.expr]:
    """The values that a call hands on, or computes on as an operator does."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if _computes(call):
        return call.args
    if name in _SHAPING:
        return [*call.args[:1], *([function.value] if isinstance(function, ast.Attribute) else [])]
    return []


def _operands(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of it whose values it has."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.List | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield node.elt
    elif isinstance(node, ast.Subscript | ast.NamedExpr | ast.Starred):
        yield node.value


def names_in(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def is_run(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _RUN

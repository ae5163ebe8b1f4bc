"""What a notebook feeds to the model: whether it is what the script that readers are given made, as it made it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

import msgspec

from assay_zoo.artifacts.notebooks.bound_names import Bound, bound_names, original_names, outside_functions
from assay_zoo.artifacts.notebooks.scaled_arguments import scaled_before

_RUN = "run"
_SHAPING = frozenset(
    (
        *("array", "asarray", "ascontiguousarray", "astype", "copy", "list", "numpy", "tolist", "tuple"),
        *("concatenate", "expand_dims", "hstack", "reshape", "squeeze", "stack", "transpose", "vstack"),
    )
)
"""Calls that hand on the values that they are given."""
_COMPUTING = frozenset(
    ["add", "clip", "divide", "floor_divide", "multiply", "negative", "power", "subtract", "true_divide"]
)
"""Functions of numpy that stand for an operator."""
_NUMPY = ("np", "numpy")
_MISSING = ("ImportError", "ModuleNotFoundError")


class FedValues(msgspec.Struct, frozen=True, kw_only=True):
    """`rebound` are names that the code imports and then gives another value, each after that of its module, `computed` the functions on
    whose answers it computes before it feeds them, `given` those that it gives numbers on which it computed before, `feeds` whether all
    that it feeds can be followed, and `made_by` all names by which that may be made: those that the imported scripts give, and not those
    that they are imported as."""

    rebound: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    feeds: bool = False
    made_by: tuple[str, ...] = ()


def fed_values(tree: ast.Module) -> FedValues:
    top = list(outside_functions(_up_to_the_last_run(tree)))
    bound, names = bound_names(top), original_names(tree)
    runs = [node for node in top if _is_run(node)]
    inside = sum(map(_is_run, ast.walk(tree))) > len(runs)  # in functions, with what they are given
    arguments = [each for call in runs for each in (*call.args, *(keyword.value for keyword in call.keywords))]
    lost = _overwritten(top)
    tables = [[each for each in table if id(each) not in lost] for table in _tables(arguments, bound)]
    whole = [each for each in arguments if not (lost and isinstance(each, ast.Name) and any(tables))]
    parts = _made_of([*whole, *(each for table in tables for each in table)], bound)
    made = {name for part in parts for name in _names(part) if name in names or name not in bound}
    made |= {each.attr for part in parts for each in ast.walk(part) if isinstance(each, ast.Attribute)}
    given = {name for part in parts for name in scaled_before(part, bound)}
    return FedValues(
        rebound=tuple(dict.fromkeys(_rebound(top))),
        computed=tuple(sorted({each for name in _Computed(bound).of(tables) for each in names.get(name, (name,))})),
        given=tuple(sorted({each for name in given for each in names.get(name, (name,))})),
        feeds=any(tables) and not inside,
        made_by=tuple(sorted({each for name in made for each in names.get(name, (name,))})),
    )


def _up_to_the_last_run(tree: ast.Module) -> ast.Module:
    """What stands behind shows what was answered, and may change the same names to do so; all of it where a function runs the model."""
    runs = [at for at, statement in enumerate(tree.body) if any(map(_is_run, ast.walk(statement)))]
    called = any(isinstance(tree.body[at], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for at in runs)
    return tree if called or not runs else ast.Module(body=tree.body[: runs[-1] + 1], type_ignores=[])


def _is_run(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _RUN


def _tables(arguments: Sequence[ast.expr], bound: Bound) -> Iterator[list[ast.AST]]:
    """The values of each table that `session.run` is given, as it stands or by a name."""
    named = dict.fromkeys(argument.id for argument in arguments if isinstance(argument, ast.Name))
    for tables in (arguments, *(bound.get(name, ()) for name in named)):
        values = [_values_of(table) for table in tables]
        yield from (each for each in values if each is not None)
        if tables is not arguments and any(each is not None for each in values):  # what is put into the table later
            yield [table for table, each in zip(tables, values, strict=True) if each is None]


def _overwritten(top: Sequence[ast.AST]) -> set[int]:
    """Values of tables that another one takes the place of, under the same key: `f = {'x': a}`, `f['x'] = b`."""
    last: dict[tuple[str, object], ast.AST] = {}
    lost: set[int] = set()
    for node in (each for each in top if isinstance(each, ast.Assign)):
        for target in node.targets:
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Dict):
                pairs = zip(node.value.keys, node.value.values, strict=True)
                last |= {(target.id, key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                place = target.value.id, getattr(target.slice, "value", None)
                lost |= {id(last[place])} if place in last and isinstance(target.slice, ast.Constant) else set()
                last[place] = node.value
    return lost


def _values_of(table: ast.AST) -> list[ast.AST] | None:
    if isinstance(table, ast.Dict):
        return list(table.values)
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "dict":
        return [keyword.value for keyword in table.keywords]
    return None


def _rebound(top: Sequence[ast.AST]) -> Iterator[str]:
    """Names that are imported, and then stand for something else than that which could not be imported."""
    idle = {id(part) for node in top if _stands_in(node) for part in ast.walk(node)}
    modules = {
        alias.asname or alias.name: alias.name for node in top if isinstance(node, ast.Import) for alias in node.names
    }
    sources: dict[str, str] = {}
    for node in top:
        if not isinstance(node, ast.ImportFrom) or id(node) in idle:
            continue
        for alias in node.names:
            name = f"{(node.module or '').rpartition('.')[2]}.{alias.name}"
            if sources.setdefault(alias.asname or alias.name, name) != name:
                yield from (sources[alias.asname or alias.name], name)
    for node in top:
        if id(node) in idle:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in sources:
            yield sources[node.id]
        elif isinstance(node, ast.ClassDef) and node.name in sources:
            yield sources[node.name]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            yield f"{modules.get(name, sources.get(name, '')).rpartition('.')[2]}.{node.attr}"


def _stands_in(node: ast.AST) -> bool:
    """It is there for what cannot be imported."""
    if isinstance(node, ast.ExceptHandler):
        return node.type is not None and not set(_MISSING).isdisjoint(_names(node.type))
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None


def _made_of(values: Iterable[ast.AST], bound: Bound) -> list[ast.AST]:
    """All that they are made of, names followed."""
    parts, followed = list(values), set[str]()
    for part in parts:
        for name in _names(part):
            if name in bound and name not in followed:
                followed.add(name)
                parts += bound[name]
    return parts


class _Computed:
    """Functions whose answer is an operand of what is fed: `f(x) * 2`, also as `y = f(x)`, `y *= 2`."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._by_name: dict[str, set[tuple[str, bool]]] = {}
        self._from_model: dict[str, bool] = {}

    def of(self, tables: Iterable[Sequence[ast.AST]]) -> set[str]:
        """What a table holds as it was answered may be computed on for another value of it."""
        computed = set[str]()
        for values in {tuple(map(ast.dump, table)): table for table in tables}.values():
            answers = {answer for value in values for answer in self._answers(value)}
            computed |= {name for name, changed in answers if changed and (name, False) not in answers}
        return computed

    def _answers(self, value: ast.AST) -> set[tuple[str, bool]]:
        """Functions that answered what this is, each with whether it was computed on."""
        answers, names = self._follow([value], through=False)
        for name, changed in names:
            answers |= {(each, changed or before) for each, before in self._answers_of(name)}
        return answers

    def _answers_of(self, name: str) -> set[tuple[str, bool]]:
        """What becomes of a name hides what it was: `y = f(x)`, `y *= 2`."""
        if name not in self._by_name:
            answers, _ = self._follow(self._bound.get(name, ()), through=True)
            self._by_name[name] = {
                (each, changed) for each, changed in answers if changed or (each, True) not in answers
            }
        return self._by_name[name]

    def _follow(
        self, values: Sequence[ast.AST], *, through: bool
    ) -> tuple[set[tuple[str, bool]], set[tuple[str, bool]]]:
        """Functions and names, each with whether it was computed on; no names where it goes `through` them."""
        answers, names = set[tuple[str, bool]](), set[tuple[str, bool]]()
        visited, waiting = set[tuple[int, bool]](), [(value, False) for value in values]
        for node, changed in waiting:
            if (id(node), changed) in visited:
                continue
            visited.add((id(node), changed))
            if isinstance(node, ast.Name) and not through:
                names.add((node.id, changed))
                continue
            if isinstance(node, ast.Call) and not _handed(node):
                answers |= {(name, changed) for name in _names(node.func)}
            operation = isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign) and not self._keeps(node)
            after = changed or operation or (isinstance(node, ast.Call) and _computes(node))
            waiting += [(each, after) for each in self._operands(node)]
        return answers, names

    def _operands(self, node: ast.AST) -> Sequence[ast.AST]:
        """The parts of it whose values it has: of a name all that it is given, of a call of an own function what it returns."""
        if isinstance(node, ast.Name):
            return self._bound.get(node.id, ())
        if not isinstance(node, ast.Call) or _handed(node):
            return _handed(node) if isinstance(node, ast.Call) else list(_operands(node))
        own = self._bound.get(node.func.id, ()) if isinstance(node.func, ast.Name) else ()
        parts = [part for function in own if isinstance(function, ast.FunctionDef) for part in ast.walk(function)]
        return [part.value for part in parts if isinstance(part, ast.Return) and part.value]

    def _keeps(self, node: ast.AST) -> bool:
        """A list that gets longer (`ids + [0] * n`), or a loop in which the model improves what it is given."""
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [getattr(node, "value", node)]
        longer = isinstance(getattr(node, "op", None), ast.Add) and any(map(self._is_list, sides))
        return longer or any(map(self._is_from_model, _names(node)))

    def _is_list(self, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add):
            return self._is_list(node.left) or self._is_list(node.right)
        if isinstance(node, ast.List):
            return not any(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in node.elts)
        named = self._bound.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return isinstance(node, ast.ListComp) or any(isinstance(each, ast.List | ast.ListComp) for each in named)

    def _is_from_model(self, name: str) -> bool:
        if name not in self._from_model:
            parts = _made_of(self._bound.get(name, ()), self._bound)
            self._from_model[name] = any(_is_run(each) for part in parts for each in ast.walk(part))
        return self._from_model[name]


def _computes(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _COMPUTING
        and isinstance(function.value, ast.Name)
        and function.value.id in _NUMPY
    )


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


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr

"""What a notebook feeds to the model: whether it is what the script that readers are given made, as it made it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay_zoo.artifacts.notebooks.bound_names import Bound, bound_names, original_names, outside_functions
from assay_zoo.artifacts.notebooks.computed_values import ComputedValues, is_run, names_in
from assay_zoo.artifacts.notebooks.scaled_arguments import scaled_before

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
    runs = [node for node in top if is_run(node)]
    inside = sum(map(is_run, ast.walk(tree))) > len(runs)  # in functions, with what they are given
    arguments = [each for call in runs for each in (*call.args, *(keyword.value for keyword in call.keywords))]
    lost = _overwritten(top)
    tables = [[each for each in table if id(each) not in lost] for table in _tables(arguments, bound)]
    whole = [each for each in arguments if not (lost and isinstance(each, ast.Name) and any(tables))]
    parts = _made_of([*whole, *(each for table in tables for each in table)], bound)
    made = {name for part in parts for name in names_in(part) if name in names or name not in bound}
    made |= {each.attr for part in parts for each in ast.walk(part) if isinstance(each, ast.Attribute)}
    computed = ComputedValues(bound)
    given = set(scaled_before(parts, bound, computed.given_back))
    return FedValues(
        rebound=tuple(dict.fromkeys(_rebound(top))),
        computed=tuple(sorted({each for name in computed.of(tables) for each in names.get(name, (name,))})),
        given=tuple(sorted({each for name in given for each in names.get(name, (name,))})),
        feeds=any(tables) and not inside,
        made_by=tuple(sorted({each for name in made for each in names.get(name, (name,))})),
    )


def _up_to_the_last_run(tree: ast.Module) -> ast.Module:
    """What stands behind shows what was answered, and may change the same names to do so; all of it where a function runs the model."""
    runs = [at for at, statement in enumerate(tree.body) if any(map(is_run, ast.walk(statement)))]
    called = any(isinstance(tree.body[at], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for at in runs)
    return tree if called or not runs else ast.Module(body=tree.body[: runs[-1] + 1], type_ignores=[])


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
        return node.type is not None and not set(_MISSING).isdisjoint(names_in(node.type))
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None


def _made_of(values: Iterable[ast.AST], bound: Bound) -> list[ast.AST]:
    """All that they are made of, names followed."""
    parts, followed = list(values), set[str]()
    for part in parts:
        for name in names_in(part):
            if name in bound and name not in followed:
                followed.add(name)
                parts += bound[name]
    return parts

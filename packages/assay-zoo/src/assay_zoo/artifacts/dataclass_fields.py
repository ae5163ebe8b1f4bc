"""What `dataclasses.fields` gives: fields with the names that stand in a class, as long as nobody gets hold of one to rename it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name, statements_in

_MADE = (
    "make_dataclass", "Field", "_FIELD", "_field_type", "__dataclass_fields__", "__dict__", "__init_subclass__", "__prepare__",
    "__set_name__", "__setattr__", "__get__",
)  # fmt: skip
"""Words without which no field is made, seen or changed but by a class and by `fields`."""
_ASKED = {"dataclass", "field", "fields"}
_CHANGING = ("setattr", "delattr")


def field_names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Of all classes of a file, whether they are dataclasses or not."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from _targets(node)


def may_rename(nodes: Sequence[ast.AST]) -> bool:
    """Whether some field could get another name in a file than stands in its class: one that is more than looked at, or made elsewhere."""
    told = {word for node in nodes for word in words(node)}
    alike = "vars" in told and not told.isdisjoint(_CHANGING)  # of a class it gives the fields, too
    return alike or not told.isdisjoint(_MADE) or any(map(_makes_otherwise, nodes)) or any(_lost(nodes))


def words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from node.value.split(".")
    elif isinstance(node, ast.alias | ast.FunctionDef):
        yield node.name
    else:
        yield last_name(node)


def _makes_otherwise(node: ast.AST) -> bool:
    if isinstance(node, ast.alias):
        return node.asname not in (None, node.name) and not _ASKED.isdisjoint((node.name, node.asname))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and not _ASKED.isdisjoint(node.value.split("."))
    if isinstance(node, ast.Name):
        return node.id == "dataclass" and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.FunctionDef):
        return node.name == "dataclass"
    if not isinstance(node, ast.ClassDef):
        return False
    own = list(statements_in(node))
    run = (one for one in own if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    loads = (each for one in run for each in ast.walk(one) if isinstance(each, ast.Name))
    seen = {one.id for one in loads if isinstance(one.ctx, ast.Load)}
    made = [one.value for one in own if isinstance(one, ast.AnnAssign) and isinstance(one.value, ast.Call)]
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    hidden = decorators and all(last_name(one) == "dataclass" for one in decorators) and seen.isdisjoint(_targets(node))
    strange = node.name == "dataclass" or any(one.arg in ("metaclass", None) for one in node.keywords)
    return strange or (not hidden and any(last_name(one.func) == "field" for one in made))


def _lost(nodes: Sequence[ast.AST]) -> Iterator[bool]:
    """For each time that fields are made or asked for, whether one of them may go on to where nobody looks."""
    values = {
        id(one.value)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for one in statements_in(node)
        if isinstance(one, ast.AnnAssign)
    }
    loops = [one for one in nodes if isinstance(one, ast.For | ast.comprehension)]
    walked = {id(one.iter): one.target for one in loops}
    fine = {id(one.value) for one in nodes if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load)}
    imported = {one.name for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
    asked = {"field", "fields"} & (_ASKED if "*" in imported else imported)
    called: set[int] = set()
    names: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.Call) and (id(one) in values or id(one) in walked):
            called.add(id(one.func))
            if last_name(one.func) == "fields" and id(one) in walked:
                target = walked[id(one)]
                names |= {target.id} if isinstance(target, ast.Name) else set()
                yield not isinstance(target, ast.Name)
    for one in nodes:
        if isinstance(one, ast.Attribute) and one.attr in ("field", "fields"):
            yield id(one) not in called
        elif isinstance(one, ast.Name) and one.id in asked and isinstance(one.ctx, ast.Load):
            yield id(one) not in called | fine
        elif isinstance(one, ast.Name) and one.id in names and isinstance(one.ctx, ast.Load):
            yield id(one) not in fine


def _targets(node: ast.ClassDef) -> set[str]:
    return {
        one.target.id
        for one in statements_in(node)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }

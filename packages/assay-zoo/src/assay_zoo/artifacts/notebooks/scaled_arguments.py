"""Numbers that a notebook has computed on before it gives them to a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from assay_zoo.artifacts.notebooks.bound_names import Bound

_TEXTS_AND_LISTS = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
_COUNTS = ("len", "range")
CHANGING = ("clip", "flip", "fliplr", "flipud", "roll", "rot90")
"""Functions of numpy that give other values, or another order, beside those that work number by number."""
_NUMPY = ("np", "numpy")
_FROM_FILE = re.compile(r"load|read|open|from(?:file|txt)", re.IGNORECASE)
GivenBack = Callable[[ast.AST], Iterable[tuple[ast.expr, bool]]]
"""What a call of an own function gives back of its arguments, each with whether it was computed on."""


def numpy_function(node: ast.AST) -> str:
    """Its name where it is called here, "" for none."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if module in _NUMPY:
            return name
    return ""


def scaled_before(parts: Iterable[ast.AST], bound: Bound, given_back: GivenBack) -> Iterator[str]:
    """Functions whose first argument was multiplied, or moved, by a number that stands in the code, clipped, turned, or what an own
    function made of a file by computing."""
    scaled: dict[str, bool] = {}
    for call in (each for part in parts for each in ast.walk(part) if isinstance(each, ast.Call) and each.args):
        first = call.args[0]
        if isinstance(first, ast.Name) and first.id not in scaled:
            scaled[first.id] = any(_is_scaled(each, bound, given_back) for each in bound.get(first.id, ()))
        if scaled[first.id] if isinstance(first, ast.Name) else _is_scaled(first, bound, given_back):
            yield call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_scaled(value: ast.AST, bound: Bound, given_back: GivenBack) -> bool:
    """A text that a number is put into, a list that is repeated and a count are no values of a sample."""
    if isinstance(value, ast.Call):
        return numpy_function(value) in CHANGING or any(
            changed and _is_from_file(argument, bound) for argument, changed in given_back(value)
        )
    sides = (value.left, value.right) if isinstance(value, ast.BinOp) else ()
    if any(map(_is_text_or_list, sides)):
        return False
    others = [side for side in sides if not _is_number(side)]
    if len(sides) == 2 and len(others) == 1:
        return not _is_count(others[0], bound)
    return any(_is_scaled(side, bound, given_back) for side in others)


def _is_from_file(value: ast.AST, bound: Bound) -> bool:
    values = bound.get(value.id, ()) if isinstance(value, ast.Name) else ()
    functions = (each.func for each in values if isinstance(each, ast.Call))
    return any(_FROM_FILE.search(getattr(each, "attr", getattr(each, "id", ""))) for each in functions)


def _is_text_or_list(value: ast.AST) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_text_or_list(value.left) or _is_text_or_list(value.right)
    return isinstance(value, _TEXTS_AND_LISTS) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str | bytes)
    )


def _is_number(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


def _is_count(value: ast.AST, bound: Bound) -> bool:
    """A name all of whose values are numbers that stand in the code, lengths or the numbers of a loop."""
    values = bound.get(value.id, ()) if isinstance(value, ast.Name) else (value,)
    return len(values) > 0 and all(
        _is_number(each) or (isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in _COUNTS)
        for each in values
    )

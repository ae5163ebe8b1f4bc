"""Numbers that a notebook has computed on before it gives them to a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from assay_zoo.artifacts.notebooks.bound_names import Bound

_TEXTS_AND_LISTS = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
_COUNTS = ("len", "range")


def scaled_before(part: ast.AST, bound: Bound) -> Iterator[str]:
    """Functions whose first argument was multiplied, or moved, by a number that stands in the code."""
    for call in (each for each in ast.walk(part) if isinstance(each, ast.Call) and each.args):
        first = call.args[0]
        given = (first, *(bound.get(first.id, ()) if isinstance(first, ast.Name) else ()))
        if any(_is_scaled(each, bound) for each in given):
            yield call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_scaled(value: ast.AST, bound: Bound) -> bool:
    """A text that a number is put into, a list that is repeated and a count are no values of a sample."""
    sides = (value.left, value.right) if isinstance(value, ast.BinOp) else ()
    if any(map(_is_text_or_list, sides)):
        return False
    others = [side for side in sides if not _is_number(side)]
    if len(sides) == 2 and len(others) == 1:
        return not _is_count(others[0], bound)
    return any(_is_scaled(side, bound) for side in others)


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

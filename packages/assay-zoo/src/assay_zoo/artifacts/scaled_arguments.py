"""Numbers that a notebook has computed on before it gives them to a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from assay_zoo.artifacts.bound_names import Bound


def scaled_before(part: ast.AST, bound: Bound) -> Iterator[str]:
    """Functions whose first argument was multiplied, or moved, by a number that stands in the code."""
    for call in (each for each in ast.walk(part) if isinstance(each, ast.Call) and each.args):
        first = call.args[0]
        if any(map(_is_scaled, (first, *(bound.get(first.id, ()) if isinstance(first, ast.Name) else ())))):
            yield call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_scaled(value: ast.AST) -> bool:
    sides = (value.left, value.right) if isinstance(value, ast.BinOp) else ()
    numbers = [side for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, int | float)]
    return len(numbers) == 1 or (len(sides) == 2 and any(map(_is_scaled, sides)))

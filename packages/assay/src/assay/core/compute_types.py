"""In which types an engine computed, by what its backend tells."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from assay.core.dtype import is_floating
from assay.core.engine_info import EngineInfo

QUANTIZED = ("int8", "int4", "int2")
"""Integers of which an engine makes numbers by a scale, the finest first; their unsigned forms count as they do."""
WIDE = ("float64", "float32", "tf32")
"""Types that nobody promises for their speed or size: to compute finer than these is no news."""
_MOVING = {"cast", "reformat"}
_MOVES = (
    "transpose", "permute", "reshape", "flatten", "squeeze", "unsqueeze", "view", "identity", "split", "slice", "concat",
    "cat", "pad", "expand", "tile", "gather", "shape", "reorder", "convert", "cast", "copy", "clone", "constant",
)  # fmt: skip
"""How operators are called that only move numbers: in whatever type they run, nothing was computed in it."""
_BEGINS = ("arange", "range", "iota", "full", "ones", "zeros", "empty", "eye")
"""How operators are called that make numbers of none: whole ones that they count in few bits were never quantized."""


@cache
def moves(operator: str) -> bool:
    """Whether an operator of that name, a model's or a backend's, only moves or casts numbers."""
    return _is_called(operator, _MOVES)


def _is_called(operator: str, names: Iterable[str]) -> bool:
    words = operator.removeprefix("aten.").lower()
    return any(words == name or words.startswith((f"{name}_", f"{name}.")) for name in names)


def unsigned(kind: str) -> str:
    """A type without its sign: int8 for uint8."""
    return kind.removeprefix("u") if kind.startswith("uint") else kind


def computing_types(facts: EngineInfo) -> dict[str, dict[str, int]]:
    """By type, the operators that computed in it and how many of each; moving, casting and indexing apart."""
    types: dict[str, dict[str, int]] = {}
    for placement in facts.placements:
        kind = unsigned(placement.precision)
        if placement.role in _MOVING or moves(placement.operator) or not (is_floating(kind) or kind in QUANTIZED):
            continue
        if kind in QUANTIZED and _is_called(placement.operator, _BEGINS):
            continue
        names = types.setdefault(kind, {})
        names[placement.operator] = names.get(placement.operator, 0) + placement.count
    return types

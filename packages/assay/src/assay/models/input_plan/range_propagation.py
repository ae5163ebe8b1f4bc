"""What an input of an operator must hold, so that its output holds what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, floor, inf

from assay.models.input_plan.graph import Node, Value
from assay.models.input_plan.range_requirements import TINY
from assay.models.input_plan.requirements import COUNT, DIVISOR, MASK, Need

_ALL = {"Concat", "Max", "Min", "Sum", "Mean"}
"""Every input holds what the output holds."""
# fmt: off
_SAME_VALUES = {
    "Identity", "Cast", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten", "Expand", "Tile", "Add", "Sub", "Mul",
}
_FIRST = {
    "Identity", "Cast", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten", "Expand", "Tile", "Slice", "Split", "Gather",
    "GatherElements", "GatherND", "Pad", "Dropout", "ReduceMax", "ReduceMin", "ReduceMean", "MaxPool", "AveragePool",
    "GlobalAveragePool", "GlobalMaxPool", "Compress", "ReverseSequence", "TopK", "Floor", "Ceil", "Round", "Trilu",
    "DepthToSpace", "SpaceToDepth", "Resize", "Upsample", "CastLike", "SplitToSequence",
}
# fmt: on
"""The first input holds what the outputs hold."""


def carried(node: Node, inputs: Sequence[Value], outputs: Sequence[Need | None]) -> Iterator[tuple[int, Need]]:
    """(place of the input, what it must hold)."""
    asked = next((one for one in outputs if one is not None), None)
    if asked is None or (asked.kind == DIVISOR and node.op not in _SAME_VALUES):
        return
    # A square is not negative, whatever is squared.
    if node.op == "Mul" and node.inputs[0] == node.inputs[1]:
        return
    if node.op == "Max" and _guards(inputs, asked):
        asked = replace(asked, low=-inf)
    if (asked.low, asked.high) == (-inf, inf) and not asked.texts:
        return
    match node.op:
        case op if op in _ALL:
            yield from ((place, asked) for place in range(len(inputs)))
        case op if op in _FIRST:
            yield 0, asked
        case "Where":
            yield from ((place, asked) for place in (1, 2))
        case "Add" | "Sub":
            yield from _sum(node.op, inputs, asked)
        case "Mul" | "Div":
            yield from _product(node.op, inputs, asked)
        case "Neg":
            yield 0, asked.scaled(-1.0)
        case "Relu" | "Abs":
            if asked.low > 0 or asked.high < inf:
                yield 0, replace(asked, low=max(asked.low, 0.0))
        case "Clip":
            yield from _clipped(node, inputs, asked)
        case "CumSum":
            yield from _running(inputs, asked)
        case "ReduceSum":
            yield from _total(inputs, asked)
        case "Sqrt":
            yield (
                0,
                replace(
                    asked,
                    low=max(asked.low, 0.0) ** 2,
                    high=asked.high**2 if asked.high < inf else inf,
                    choices=(),
                    exact=(),
                ),
            )
        case _:
            return


def _guards(inputs: Sequence[Value], asked: Need) -> bool:
    lowest = [ends[0] for one in inputs if (ends := _ends(one)) is not None]
    return bool(lowest) and _is_met(max(lowest), asked)


def _is_met(floor_: float, asked: Need) -> bool:
    """From below; how far a positive number is from zero is the model's own affair."""
    return floor_ >= asked.low or (floor_ > 0 and asked.low == TINY)


def _ends(value: Value) -> tuple[float, float] | None:
    if value.data is None or not value.data.size or value.data.dtype.kind not in "iuf":
        return None
    return float(value.data.min()), float(value.data.max())


def _sum(op: str, inputs: Sequence[Value], asked: Need) -> Iterator[tuple[int, Need]]:
    first, second = (_ends(one) for one in inputs[:2])
    if first is not None and second is not None:
        return
    if second is not None:
        yield 0, asked.shifted(*second) if op == "Add" else asked.shifted(-second[1], -second[0])
    elif first is not None:
        need = asked.shifted(*first)
        yield 1, need if op == "Add" else need.scaled(-1.0)
    elif op == "Add" and asked.low >= 0 and asked.high < inf:
        half = replace(asked, low=0.0, high=floor(asked.high / 2), choices=(), exact=())
        yield from ((place, half) for place in (0, 1))
    elif op == "Add" and asked.high == inf and asked.low >= 0:
        yield from ((place, replace(asked, low=asked.low / 2)) for place in (0, 1))


def _product(op: str, inputs: Sequence[Value], asked: Need) -> Iterator[tuple[int, Need]]:
    first, second = (_ends(one) for one in inputs[:2])
    if op == "Div":
        if second is not None and second[0] == second[1] != 0:
            need = asked.scaled(1 / second[0])
            # A division of whole numbers rounds: the last quotient has a whole step of them.
            whole = inputs[1].data is not None and inputs[1].data.dtype.kind in "iu"
            yield 0, replace(need, high=need.high + second[0] - 1) if whole and second[0] > 0 else need
        return
    for place, factor in ((0, second), (1, first)):
        if factor is not None and factor[0] == factor[1] != 0 and inputs[place].data is None:
            yield place, asked.scaled(factor[0])
    if first is None and second is None and asked.low >= 0:
        # Two that are multiplied: masks leave what they are multiplied with, and 0 is in range.
        yield from ((place, asked) for place in (0, 1))


def _clipped(node: Node, inputs: Sequence[Value], asked: Need) -> Iterator[tuple[int, Need]]:
    low = node.attributes.get("min")
    high = node.attributes.get("max")
    for place in (1, 2):
        ends = _ends(inputs[place]) if place < len(inputs) else None
        if ends is not None:
            low, high = (ends[0], high) if place == 1 else (low, ends[1])
    below = asked.low > -inf and (low is None or not _is_met(low, asked))
    above = asked.high < inf and (high is None or high > asked.high)
    if below or above:
        yield 0, asked


def _running(inputs: Sequence[Value], asked: Need) -> Iterator[tuple[int, Need]]:
    shape, axis = inputs[0].shape, inputs[1].data
    if shape is None or axis is None or asked.high == inf:
        return
    steps = shape[int(axis.reshape(-1)[0])] or 1
    yield 0, Need(0, max(1, floor(asked.high / steps)), MASK, (), asked.why)


def _total(inputs: Sequence[Value], asked: Need) -> Iterator[tuple[int, Need]]:
    if asked.high == inf or asked.kind == COUNT:
        yield 0, replace(asked, low=max(asked.low, 0.0), choices=(), exact=())
        return
    count = max((one or 1 for one in inputs[0].shape or ()), default=1)
    yield (
        0,
        replace(
            asked, low=ceil(max(asked.low, 0) / count), high=max(1.0, floor(asked.high / count)), choices=(), exact=()
        ),
    )

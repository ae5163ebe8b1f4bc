"""Attention whose heads share keys and values in groups, with the cache of earlier ones (ONNX Runtime, ContribOperators.md,
GroupQueryAttention)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.microsoft_attention import half_turned, length_of, numbers
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Unknown
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, ints
from assay.numerics.shapes.needed_values import COUNT, INDEX, LENGTH, Demands, Need, index_into, size_of
from assay.numerics.shapes.values import UNKNOWN, Node, Value

_OFF = {
    "qk_output": 0,
    "sliding_window_cache": 0,
    "kv_cache_bit_width": 0,
    "k_quant_type": "NONE",
    "v_quant_type": "NONE",
}
"""Forms without steps, unless these attributes have these values."""
_SINK = 11
"""The input with one number a head, whose exponential is one more term of the softmax's denominator."""


def _demand_plain(body: Body) -> None:
    for name, plain in _OFF.items():
        if body.attribute(name, plain) != plain:
            raise Unknown
    if any(body.input(at) for at in range(_SINK + 1, 16)) or body.gives(3):
        raise Unknown


def _sides(body: Body, heads: int, groups: int) -> tuple[list[str], int]:
    """Query, keys and values as (batch, heads, length, size), and that size."""
    query, keys, values = (body.input(at) for at in range(3))
    width = body.size(query, body.rank(query) - 1)
    size = width // (heads if keys else heads + 2 * groups)
    if not keys:
        query, keys, values = body.parts(query, [heads * size, groups * size, groups * size], 2)
    sides = ((query, heads), (keys, groups), (values, groups))
    return [
        body.step("Transpose", body.reshape(side, 0, 0, count, size), perm=[0, 2, 1, 3]) for side, count in sides
    ], size


def _past(body: Body, new: str) -> str:
    """How many keys each row has from before (batch, 1): as many as its own length is longer than what is new; none where what is
    new is all that there is."""
    lengths = body.step("Cast", body.reshape(body.input(5), -1, 1), to=TensorProto.INT64)
    total = body.reshape(body.step("Cast", body.input(6), to=TensorProto.INT64), 1)
    before = body.step("Sub", body.step("Add", lengths, body.whole(1)), new)
    return body.step("Where", body.step("Equal", total, new), body.whole(0), before)


def _rotated(body: Body, value: str, past: str, size: int) -> str:
    """Each token turned by the angle of its position."""
    cosines, sines = body.input(7), body.input(8)
    half = body.size(cosines, 1)
    positions = body.input(9)
    if not positions:
        positions = body.step("Add", numbers(body, length_of(body, value, 2)), past)
    angles = [body.unsqueeze(body.step("Gather", table, positions), 1) for table in (cosines, sines)]
    turned, rest = (value, "") if size == 2 * half else body.parts(value, [2 * half, size - 2 * half], 3)
    rotated = half_turned(body, turned, half, *angles, interleaved=bool(body.attribute("rotary_interleaved", 0)))
    return body.step("Concat", rotated, rest, axis=3) if rest else rotated


def _places(body: Body, past: str, new: str, stored: str) -> tuple[str, str]:
    """For each row and place of the cache that is given (batch, places): where it is found among what is stored and what is new,
    one behind the other; and whether there is anything."""
    total = body.reshape(body.step("Cast", body.input(6), to=TensorProto.INT64), 1)
    places = numbers(body, body.step("Max", total, stored) if body.version >= 12 else total)
    behind = body.step("Sub", places, past)
    last = body.step("Sub", new, body.whole(1))
    clipped = body.step("Where", body.step("Less", behind, new), behind, last)
    written_places = body.step("Where", body.step("Less", places, past), places, body.step("Add", clipped, stored))
    return written_places, body.step("Less", behind, new)


def _cached(body: Body, before: str, value: str, places: str, filled: str) -> str:
    """(batch, groups, places, size): what was stored, then what is new, then zeros."""
    whole = body.step("Concat", before, value, axis=2) if before else value
    at = body.unsqueeze(places, 1, 3)
    shape = body.step("Shape", whole)
    sides = [body.step("Slice", shape, body.whole(first), body.whole(last)) for first, last in ((0, 2), (3, 4))]
    target = body.step("Concat", sides[0], length_of(body, places, 1), sides[1], axis=0)
    chosen = body.step("GatherElements", whole, body.step("Expand", at, target), axis=2)
    return body.step("Where", body.unsqueeze(filled, 1, 3), chosen, body.number(0, value))


def _hidden(body: Body, past: str, query: str, keys: str) -> str:
    """What is added to the scores (batch, 1, 1, queries, places): the lowest number where a key comes after its query, or more than a
    window before it, or is none; 0 elsewhere."""
    new, places = length_of(body, query, 2), numbers(body, length_of(body, keys, 2))
    if body.attribute("causal", 1):
        last = body.unsqueeze(body.step("Add", numbers(body, new), past), 2)
    else:
        last = body.unsqueeze(body.step("Add", past, body.step("Sub", new, body.whole(1))), 2)
    hidden = body.step("Greater", places, last)
    window = body.attribute("local_window_size", -1)
    if window > 0:
        first = body.step("Sub", last, body.whole(window - 1))
        hidden = body.step("Or", hidden, body.step("Less", places, first))
    info = np.finfo(helper.tensor_dtype_to_np_dtype(body.type_of(query)))
    lowest = body.step("Where", hidden, body.number(float(info.min), query), body.number(0, query))
    return body.unsqueeze(lowest, 1, 2)


def _grouped(body: Body) -> None:
    """Queries of several heads look at the keys and values of one; those from before come first."""
    body.needs(12)
    _demand_plain(body)
    heads, groups = body.attribute("num_heads"), body.attribute("kv_num_heads")
    (query, keys, values), size = _sides(body, heads, groups)
    new = length_of(body, query, 2)
    past = _past(body, new)
    if body.attribute("do_rotary", 0):
        query, keys = (_rotated(body, operand, past, size) for operand in (query, keys))
    stored = length_of(body, body.input(3), 2) if body.input(3) else body.whole(0)
    places_written, filled = _places(body, past, new, stored)
    keys, values = (
        _cached(body, body.input(at), operand, places_written, filled) for at, operand in ((3, keys), (4, values))
    )
    query = body.step("Reshape", query, body.whole(0, groups, heads // groups, -1, size))
    turned = body.unsqueeze(body.step("Transpose", keys, perm=[0, 1, 3, 2]), 2)
    scores = body.times(body.step("MatMul", query, turned), float(body.attribute("scale", 0.0)) or 1 / math.sqrt(size))
    cap = float(body.attribute("softcap", 0.0))
    if cap:
        scores = body.times(body.step("Tanh", body.times(scores, 1 / cap)), cap)
    if body.input(10):
        scores = body.step("Add", scores, _bias(body, heads, groups))
    flat = body.reshape(query, 0, heads, -1, size)
    scores = body.step("Add", scores, _hidden(body, past, flat, keys))
    answer = body.step("MatMul", _shares(body, scores, heads, groups), body.unsqueeze(values, 2))
    answer = body.reshape(answer, 0, heads, -1, size)
    body.give(body.reshape(body.step("Transpose", answer, perm=[0, 2, 1, 3]), 0, 0, -1))
    body.give(keys, 1)
    body.give(values, 2)


def _shares(body: Body, scores: str, heads: int, groups: int) -> str:
    """The softmax over the keys. With a sink one more score stands beside them, whose share goes to no key; of a smooth softmax without
    one it is 0."""
    if not body.input(_SINK) and body.attribute("smooth_softmax", 0) != 1:
        return body.step("Softmax", scores, axis=-1)
    sink = body.input(_SINK) or body.tensor(np.zeros(heads, helper.tensor_dtype_to_np_dtype(body.type_of(scores))))
    shape = body.step("Shape", scores)
    before = body.step("Slice", shape, body.whole(0), body.whole(4))
    places = body.step("Slice", shape, body.whole(4), body.whole(5))
    column = body.step("Concat", before, body.whole(1), axis=0)
    beside = body.step("Expand", body.reshape(sink, 1, groups, heads // groups, 1, 1), column)
    every = body.step("Softmax", body.step("Concat", scores, beside, axis=-1), axis=-1)
    return body.step("Slice", every, body.whole(0), places, body.whole(4))


def _bias(body: Body, heads: int, groups: int) -> str:
    """(batch or 1, groups or 1, heads of a group or 1, queries, keys)."""
    shared = body.size(body.input(10), 1) == 1
    split = (1, 1) if shared else (groups, heads // groups)
    shape = body.step("Slice", body.step("Shape", body.input(10)), body.whole(2), body.whole(4))
    first = length_of(body, body.input(10), 0)
    return body.step("Reshape", body.input(10), body.step("Concat", first, body.whole(*split), shape, axis=0))


def _grouped_attention_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    """What is new lies behind the keys of before; several new ones behind such for one row alone (ONNX Runtime)."""
    shape, past, total = inputs[0].shape, at(inputs, 3).shape, ints(at(inputs, 6))
    heads, groups = node.attributes.get("num_heads") or 0, node.attributes.get("kv_num_heads") or 0
    if shape is None or len(shape) != 3 or heads + groups == 0:
        return [UNKNOWN] * len(node.outputs)
    rows, new, width = shape
    before = past[2] if past is not None and len(past) == 4 else 0
    if rows is not None and new is not None and before and rows > 1 and new > 1:
        raise Conflict(ConstraintCode.TOKENS_IN_ONE_ROW, (new, 1), (rows, 1), tokens=new, rows=rows)
    if total and new is not None and before is not None and total[0] != before + new:
        raise Conflict(
            ConstraintCode.TOTAL_LENGTH,
            (total[0], before + new),
            (before + new, total[0]),
            before=before,
            new=new,
            sum=before + new,
            total=total[0],
        )
    table = at(inputs, 7).shape
    if table and table[0] is not None and before is not None and new is not None and before + new > table[0]:
        raise Conflict(ConstraintCode.ANGLES, (before + new, table[0]), positions=before + new, places=table[0])
    packed = not (len(node.inputs) > 1 and node.inputs[1])
    size = None if width is None else width // (heads + 2 * groups if packed else heads)
    places = None if before is None or new is None else before + new
    cache = Value((rows, groups, places, size))
    return [Value((rows, new, None if size is None else heads * size)), cache, cache, *[UNKNOWN] * 1]


def _grouped_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """The whole length of every row, the new tokens behind the earlier ones; without padding."""
    new, before = size_of(inputs, 0, 1), size_of(inputs, 3, 2) or 0
    if new is not None:
        yield 5, Need(before + new - 1, before + new - 1, LENGTH)
        yield 6, Need(before + new, before + new, COUNT)
        yield 9, Need(before, before, INDEX) if new == 1 else index_into(size_of(inputs, 7, 0))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "GroupQueryAttention",
        domain=MICROSOFT,
        decomposition=_grouped,
        shape=_grouped_attention_shape,
        ranges=_grouped_ranges,
    ),
)

"""Attention whose heads share keys and values in groups, with the cache of earlier ones (ONNX Runtime, ContribOperators.md,
GroupQueryAttention)."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto, helper

from assay.numerics.oracle.contrib.attention import half_turned, length_of, numbers
from assay.numerics.oracle.contrib.body import Body, Decomposition, Unknown

_OFF = {
    "smooth_softmax": 0,
    "qk_output": 0,
    "sliding_window_cache": 0,
    "kv_cache_bit_width": 0,
    "k_quant_type": "NONE",
    "v_quant_type": "NONE",
}
"""Forms without steps, unless these attributes have these values."""


def _demand_plain(body: Body) -> None:
    for name, plain in _OFF.items():
        if body.attribute(name, plain) != plain:
            raise Unknown(f"GroupQueryAttention with {name}")
    if any(body.input(at) for at in range(11, 16)) or body.gives(3):
        raise Unknown("GroupQueryAttention with a sink, quantized keys, or that gives its scores")


def _sides(body: Body, heads: int, groups: int) -> tuple[list[str], int]:
    """Query, keys and values as (batch, heads, length, size), and that size."""
    query, keys, values = (body.input(at) for at in range(3))
    width = body.size(query, body.rank(query) - 1)
    size = width // (heads if keys else heads + 2 * groups)
    if not keys:
        query, keys, values = body.parts(query, [heads * size, groups * size, groups * size], 2)
    sides = ((query, heads), (keys, groups), (values, groups))
    return [
        body.step("Transpose", body.reshape(one, 0, 0, count, size), perm=[0, 2, 1, 3]) for one, count in sides
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
    found = half_turned(body, turned, half, *angles, interleaved=bool(body.attribute("rotary_interleaved", 0)))
    return body.step("Concat", found, rest, axis=3) if rest else found


def _places(body: Body, past: str, new: str, stored: str) -> tuple[str, str]:
    """For each row and place of the cache that is given (batch, places): where it is found among what is stored and what is new,
    one behind the other; and whether there is anything."""
    total = body.reshape(body.step("Cast", body.input(6), to=TensorProto.INT64), 1)
    places = numbers(body, body.step("Max", total, stored) if body.version >= 12 else total)
    behind = body.step("Sub", places, past)
    last = body.step("Sub", new, body.whole(1))
    clipped = body.step("Where", body.step("Less", behind, new), behind, last)
    found = body.step("Where", body.step("Less", places, past), places, body.step("Add", clipped, stored))
    return found, body.step("Less", behind, new)


def _cached(body: Body, before: str, value: str, found: str, filled: str) -> str:
    """(batch, groups, places, size): what was stored, then what is new, then zeros."""
    whole = body.step("Concat", before, value, axis=2) if before else value
    at = body.unsqueeze(found, 1, 3)
    shape = body.step("Shape", whole)
    sides = [body.step("Slice", shape, body.whole(first), body.whole(last)) for first, last in ((0, 2), (3, 4))]
    target = body.step("Concat", sides[0], length_of(body, found, 1), sides[1], axis=0)
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
        query, keys = (_rotated(body, one, past, size) for one in (query, keys))
    stored = length_of(body, body.input(3), 2) if body.input(3) else body.whole(0)
    found, filled = _places(body, past, new, stored)
    keys, values = (_cached(body, body.input(at), one, found, filled) for at, one in ((3, keys), (4, values)))
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
    answer = body.step("MatMul", body.step("Softmax", scores, axis=-1), body.unsqueeze(values, 2))
    answer = body.reshape(answer, 0, heads, -1, size)
    body.give(body.reshape(body.step("Transpose", answer, perm=[0, 2, 1, 3]), 0, 0, -1))
    body.give(keys, 1)
    body.give(values, 2)


def _bias(body: Body, heads: int, groups: int) -> str:
    """(batch or 1, groups or 1, heads of a group or 1, queries, keys)."""
    shared = body.size(body.input(10), 1) == 1
    split = (1, 1) if shared else (groups, heads // groups)
    shape = body.step("Slice", body.step("Shape", body.input(10)), body.whole(2), body.whole(4))
    first = length_of(body, body.input(10), 0)
    return body.step("Reshape", body.input(10), body.step("Concat", first, body.whole(*split), shape, axis=0))


GROUPED: dict[str, Decomposition] = {"GroupQueryAttention": _grouped}

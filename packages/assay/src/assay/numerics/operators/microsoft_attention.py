"""Attention of several heads, with masks and what went before, and rotary positions (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.microsoft_products import scaled
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Unknown
from assay.numerics.shapes.constraints import Inputs, Walk, at, equal
from assay.numerics.shapes.values import UNKNOWN, Node, Value

_FILTER = -10000.0


def _heads(body: Body, value: str, heads: int) -> str:
    """(batch, length, heads x size) as (batch, heads, length, size); what has four axes is so already."""
    if body.rank(value) == 4:
        return value
    return body.step("Transpose", body.reshape(value, 0, 0, heads, -1), perm=[0, 2, 1, 3])


def length_of(body: Body, value: str, axis: int) -> str:
    """A vector of one number."""
    return body.step("Gather", body.step("Shape", value), body.whole(axis))


def numbers(body: Body, count: str) -> str:
    """0 to count - 1, from a vector of one number."""
    unit = body.tensor(np.array(1, np.int64))
    return body.step("Sub", body.step("CumSum", body.step("Expand", unit, count), body.tensor(np.array(0))), unit)


def _where(body: Body, condition: str, value: float, like: str) -> str:
    """That value where the condition holds, 0 elsewhere."""
    return body.step("Where", condition, body.number(value, like), body.number(0, like))


def _mask(body: Body, mask: str, keys: str, like: str) -> str:
    """What is added to the scores of `keys` (batch, heads, total, size): the filter where the mask is 0, or behind the length that it
    tells of each row."""
    rank = body.rank(mask)
    lowest = body.attribute("mask_filter_value", _FILTER)
    if rank == 1:
        if body.shape(mask)[0] is not None and body.size(mask, 0) != 1:
            batch = body.shape(keys)[0] if keys in body.node.input else None
            if batch != body.size(mask, 0):
                raise Unknown
        places = numbers(body, length_of(body, keys, 2))
        lengths = body.unsqueeze(body.step("Cast", mask, to=TensorProto.INT64), 1)
        hidden = body.step("Not", body.step("Less", places, lengths))
        return _where(body, body.unsqueeze(hidden, 1, 2), lowest, like)
    if rank not in (2, 3):
        raise Unknown
    zero = body.tensor(np.zeros((), helper.tensor_dtype_to_np_dtype(body.type_of(mask))))
    hidden = body.step("Not", body.step("Greater", mask, zero))
    return _where(body, body.unsqueeze(hidden, *((1, 2) if rank == 2 else (1,))), lowest, like)


def _causal(body: Body, query: str, keys: str) -> str:
    """The lowest number where a key comes after the query, the last of which is as far as the last key."""
    total, length = length_of(body, keys, 2), length_of(body, query, 2)
    columns = numbers(body, total)
    rows = body.step("Add", numbers(body, length), body.step("Sub", total, length))
    later = body.step("Greater", columns, body.unsqueeze(rows, 1))
    info = np.finfo(helper.tensor_dtype_to_np_dtype(body.type_of(query)))
    return _where(body, later, float(info.min), query)


def attended(body: Body, query: str, keys: str, values: str, scale: float, masks: list[str]) -> str:
    """softmax(query keys^T scale + masks) values, of (batch, heads, length, size), as (batch, length, heads x size)."""
    scores = body.step("MatMul", query, body.step("Transpose", keys, perm=[0, 1, 3, 2]))
    scores = body.times(scores, scale)
    for mask in masks:
        scores = body.add(scores, mask)
    if body.attribute("unidirectional", 0):
        scores = body.step("Add", scores, _causal(body, query, keys))
    attended_values = body.step("MatMul", body.step("Softmax", scores, axis=-1), values)
    return body.reshape(body.step("Transpose", attended_values, perm=[0, 2, 1, 3]), 0, 0, -1)


def _scale(body: Body, size: int) -> float:
    return float(body.attribute("scale", 0.0)) or 1 / math.sqrt(size)


def _plain(body: Body) -> None:
    """Forms without steps."""
    body.needs(11)
    for name in ("do_rotary", "past_present_share_buffer"):
        if body.attribute(name, 0):
            raise Unknown


def _projected(body: Body, projection: str, mask: str, past: str, bias: str, sizes: list[int]) -> None:
    """From query, keys and values side by side along the last axis, in so many numbers each."""
    heads = body.attribute("num_heads")
    query, keys, values = (
        body.step("Transpose", body.reshape(part, 0, 0, heads, -1), perm=[0, 2, 1, 3])
        for part in body.parts(projection, sizes, 2)
    )
    if past:
        before = [body.step("Gather", past, body.tensor(np.array(at)), axis=0) for at in (0, 1)]
        keys, values = (body.step("Concat", old, new, axis=2) for old, new in zip(before, (keys, values), strict=True))
    masks = [_mask(body, mask, keys, projection)] if mask else []
    body.give(attended(body, query, keys, values, _scale(body, sizes[0] // heads), [*masks, bias]))
    if body.gives(1):
        body.give(body.step("Concat", body.unsqueeze(keys, 0), body.unsqueeze(values, 0), axis=0), 1)


def _attention(body: Body) -> None:
    """Of one input by one matrix, whose columns are those of query, keys and values."""
    _plain(body)
    x, weights, bias, mask, past, added = (body.input(at) for at in range(6))
    sizes = body.attribute("qkv_hidden_sizes") or [body.size(weights, 1) // 3] * 3
    product = body.add(body.step("MatMul", x, weights), bias)
    _projected(body, product, mask, past, added, list(sizes))


def _quantized(body: Body) -> None:
    """The same of an input and a matrix on grids."""
    _plain(body)
    x, weights, bias, x_scale, scale, mask, x_zero, zero, past = (body.input(at) for at in range(9))
    product = scaled(body, body.step("MatMulInteger", x, weights, x_zero, zero), x_scale, scale, bias)
    _projected(body, product, mask, past, "", [body.size(weights, 1) // 3] * 3)


def _several_heads(body: Body) -> None:
    """Of query, keys and values by themselves, and a bias of all three."""
    _plain(body)
    if body.gives(3) or body.input(8) or body.input(9):
        raise Unknown
    query, keys, values, bias, mask, added, past_keys, past_values = (body.input(at) for at in range(8))
    if not keys or not values:
        raise Unknown
    heads, width = body.attribute("num_heads"), body.size(query, 2)
    if bias:
        behind = body.size(bias, 0) - 2 * width
        parts = body.parts(bias, [width, width, behind], 0)
        query, keys, values = (
            body.step("Add", operand, part) for operand, part in zip((query, keys, values), parts, strict=True)
        )
    query = body.step("Transpose", body.reshape(query, 0, 0, heads, -1), perm=[0, 2, 1, 3])
    if bias:
        keys, values = (
            body.step("Transpose", body.reshape(tensor, 0, 0, heads, -1), perm=[0, 2, 1, 3])
            for tensor in (keys, values)
        )
    else:
        keys, values = _heads(body, keys, heads), _heads(body, values, heads)
    if past_keys:
        keys = body.step("Concat", past_keys, keys, axis=2)
        values = body.step("Concat", past_values, values, axis=2)
    masks = [_mask(body, mask, keys, query)] if mask else []
    body.give(attended(body, query, keys, values, _scale(body, width // heads), [*masks, added]))
    body.give(keys, 1)
    body.give(values, 2)


def _rotary(body: Body) -> None:
    """Pairs of numbers turned by the angle of their position: halves of a head, or neighbours."""
    body.needs(11)
    if body.attribute("is_packed_batching", 0) or body.attribute("scale", 1.0) != 1.0:
        raise Unknown
    x, positions, cosines, sines = (body.input(at) for at in range(4))
    half, part = body.size(cosines, 1), body.attribute("rotary_embedding_dim", 0)
    rank = body.rank(x)
    if part:
        heads = body.attribute("num_heads", 0)
        size = body.size(x, rank - 1) // (heads if rank == 3 else 1)
    else:
        size = 2 * half
    value = x if rank == 4 else body.step("Transpose", body.reshape(x, 0, 0, -1, size), perm=[0, 2, 1, 3])
    angles = [body.unsqueeze(_angle(body, table, positions, value), 1) for table in (cosines, sines)]
    turned, rest = (value, "") if size == 2 * half else body.parts(value, [2 * half, size - 2 * half], 3)
    rotated = half_turned(body, turned, half, *angles, interleaved=bool(body.attribute("interleaved", 0)))
    rotated = body.step("Concat", rotated, rest, axis=3) if rest else rotated
    if rank == 3:
        rotated = body.reshape(body.step("Transpose", rotated, perm=[0, 2, 1, 3]), 0, 0, -1)
    body.give(rotated)


def _angle(body: Body, table: str, positions: str, value: str) -> str:
    """(batch, length, half), from positions of each token, or that of the first."""
    if body.rank(positions) == 1:
        positions = body.unsqueeze(body.step("Add", numbers(body, length_of(body, value, 2)), positions), 0)
    return body.step("Gather", table, positions)


def half_turned(body: Body, value: str, half: int, cosine: str, sine: str, *, interleaved: bool) -> str:
    """Halves of the last axis as real and imaginary parts, or neighbours on it, turned by an angle."""
    if interleaved:
        pairs = body.reshape(value, 0, 0, 0, half, 2)
        first, second = (body.step("Gather", pairs, body.tensor(np.array(at)), axis=4) for at in (0, 1))
    else:
        first, second = body.parts(value, [half, half], 3)
    left = body.step("Sub", body.step("Mul", first, cosine), body.step("Mul", second, sine))
    right = body.step("Add", body.step("Mul", first, sine), body.step("Mul", second, cosine))
    if not interleaved:
        return body.step("Concat", left, right, axis=3)
    both = body.step("Concat", body.unsqueeze(left, 4), body.unsqueeze(right, 4), axis=4)
    return body.reshape(both, 0, 0, 0, -1)


def _fused_attention_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, 1).shape
    if shape is None or weight is None or weight[1] is None:
        return [UNKNOWN] * len(node.outputs)
    equal(shape[2], weight[0], ConstraintCode.WEIGHT_FEATURES)
    sizes = node.attributes.get("qkv_hidden_sizes")
    features = sizes[2] if sizes else weight[1] // 3
    return [Value((shape[0], shape[1], features)), *[UNKNOWN] * (len(node.outputs) - 1)]


def _multi_head_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    packed = shape is not None and len(shape) != 3
    return [UNKNOWN if packed else Value(shape), *[UNKNOWN] * (len(node.outputs) - 1)]


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Attention", domain=MICROSOFT, decomposition=_attention, shape=_fused_attention_shape),
    *alike("QAttention", domain=MICROSOFT, decomposition=_quantized, shape=_fused_attention_shape),
    *alike("MultiHeadAttention", domain=MICROSOFT, decomposition=_several_heads, shape=_multi_head_shape),
    *alike("RotaryEmbedding", domain=MICROSOFT, decomposition=_rotary),
)

"""Attention, and what models of language do beside it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, equal, plain
from assay.numerics.shapes.needed_values import LENGTH, Demands, Need, index_into, size_of
from assay.numerics.shapes.values import UNKNOWN, Node, Value


def _attention_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    query, key, value = (at(inputs, place).shape for place in (0, 1, 2))
    if query is None or key is None or value is None:
        return [UNKNOWN] * len(node.outputs)
    if len(query) == 4:
        equal(query[3], key[3], ConstraintCode.HEAD_SIZES)
        equal(key[2], value[2], ConstraintCode.KEY_LENGTHS)
        return [Value((*query[:3], value[3])), *[UNKNOWN] * (len(node.outputs) - 1)]
    for what, size, heads in (("query", query[2], "q_num_heads"), ("key", key[2], "kv_num_heads")):
        count = node.attributes.get(heads)
        if size is not None and count and size % count:
            raise Conflict(
                ConstraintCode.MULTIPLE_OF_HEADS, (size, -(-size // count) * count), of=what, size=size, heads=count
            )
    equal(key[1], value[1], ConstraintCode.KEY_LENGTHS)
    return [Value((query[0], query[1], None)), *[UNKNOWN] * (len(node.outputs) - 1)]


def _rotary_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    """No more tokens than the table has angles, wherever positions say that they lie: ONNX Runtime asks for that."""
    shape = inputs[0].shape
    table = at(inputs, 2 if node.domain else 1).shape
    if shape is not None and table and len(table) == 2:
        tokens = shape[-2] if len(shape) == 4 else shape[1] if len(shape) == 3 else None
        if tokens is not None and table[0] is not None and tokens > table[0]:
            raise Conflict(ConstraintCode.ANGLES, (tokens, table[0]), positions=tokens, places=table[0])
    return plain(shape)


def _attended_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """How many keys of each item count."""
    yield 6, Need(1, size_of(inputs, 1, -2) or 1, LENGTH)


def _positions_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    place, table = (1, 2) if node.domain else (3, 1)
    size = size_of(inputs, table, 0)
    if size_of(inputs, table, 1) is not None and len(inputs[table].shape or ()) == 2:
        first = node.domain and len(inputs[place].shape or ()) == 1  # of the first token: the others follow
        tokens = size_of(inputs, 0, -2 if len(inputs[0].shape or ()) == 4 else 1) or 1
        yield place, index_into(max((size or 1) - tokens + 1, 1) if first else size)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Attention", expanded=True, shape=_attention_shape, ranges=_attended_ranges, mutations={"causality"}),
    *alike("LinearAttention CausalConvWithState", single_inside=True, expanded=True),
    *alike("RotaryEmbedding", steers=(3,), expanded=True, shape=_rotary_shape, ranges=_positions_ranges),
)

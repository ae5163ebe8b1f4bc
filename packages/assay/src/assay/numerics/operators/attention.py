"""Attention, and its kin of com.microsoft."""

from __future__ import annotations

from collections.abc import Sequence

from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, equal, ints, plain
from assay.numerics.shapes.requirements import COUNT, INDEX, LENGTH, Demands, Need, index_into, size_of
from assay.numerics.shapes.values import UNKNOWN, Node, Value


def _attention_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    query, key, value = (at(inputs, place).shape for place in (0, 1, 2))
    if query is None or key is None or value is None:
        return [UNKNOWN] * len(node.outputs)
    if len(query) == 4:
        equal(query[3], key[3], "the head sizes of query and key")
        equal(key[2], value[2], "the lengths of key and value")
        return [Value((*query[:3], value[3])), *[UNKNOWN] * (len(node.outputs) - 1)]
    for what, size, heads in (("query", query[2], "q_num_heads"), ("key", key[2], "kv_num_heads")):
        count = node.attributes.get(heads)
        if size is not None and count and size % count:
            raise Conflict(
                f"the {what} has {size} features, no multiple of {count} heads", (size, -(-size // count) * count)
            )
    equal(key[1], value[1], "the lengths of key and value")
    return [Value((query[0], query[1], None)), *[UNKNOWN] * (len(node.outputs) - 1)]


def _fused_attention_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, 1).shape
    if shape is None or weight is None or weight[1] is None:
        return [UNKNOWN] * len(node.outputs)
    equal(shape[2], weight[0], "the features of the input and of the weight")
    sizes = node.attributes.get("qkv_hidden_sizes")
    features = sizes[2] if sizes else weight[1] // 3
    return [Value((shape[0], shape[1], features)), *[UNKNOWN] * (len(node.outputs) - 1)]


def _multi_head_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    packed = shape is not None and len(shape) != 3
    return [UNKNOWN if packed else Value(shape), *[UNKNOWN] * (len(node.outputs) - 1)]


def _grouped_attention_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    """What is new lies behind the keys of before; several new ones behind such for one row alone (ONNX Runtime)."""
    shape, past, total = inputs[0].shape, at(inputs, 3).shape, ints(at(inputs, 6))
    heads, groups = node.attributes.get("num_heads") or 0, node.attributes.get("kv_num_heads") or 0
    if shape is None or len(shape) != 3 or heads + groups == 0:
        return [UNKNOWN] * len(node.outputs)
    rows, new, width = shape
    before = past[2] if past is not None and len(past) == 4 else 0
    if rows is not None and new is not None and before and rows > 1 and new > 1:
        raise Conflict(
            f"{new} tokens follow earlier ones in {rows} rows: they may in one row alone", (new, 1), (rows, 1)
        )
    if total and new is not None and before is not None and total[0] != before + new:
        told = f"{before} keys and {new} new ones are {before + new}, and the total length is {total[0]}"
        raise Conflict(told, (total[0], before + new), (before + new, total[0]))
    table = at(inputs, 7).shape
    if table and table[0] is not None and before is not None and new is not None and before + new > table[0]:
        raise Conflict(f"{before + new} positions, and the table of angles has {table[0]}", (before + new, table[0]))
    packed = not (len(node.inputs) > 1 and node.inputs[1])
    size = None if width is None else width // (heads + 2 * groups if packed else heads)
    places = None if before is None or new is None else before + new
    cache = Value((rows, groups, places, size))
    return [Value((rows, new, None if size is None else heads * size)), cache, cache, *[UNKNOWN] * 1]


def _rotary_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    """No more tokens than the table has angles, wherever positions say that they lie: ONNX Runtime asks for that."""
    shape = inputs[0].shape
    table = at(inputs, 2 if node.domain else 1).shape
    if shape is not None and table and len(table) == 2:
        tokens = shape[-2] if len(shape) == 4 else shape[1] if len(shape) == 3 else None
        if tokens is not None and table[0] is not None and tokens > table[0]:
            raise Conflict(f"{tokens} positions, and the table of angles has {table[0]}", (tokens, table[0]))
    return plain(shape)


def _attended_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """How many keys of each item count."""
    yield 6, Need(1, size_of(inputs, 1, -2) or 1, LENGTH)


def _grouped_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """The whole length of every row, the new tokens behind the earlier ones; without padding."""
    new, before = size_of(inputs, 0, 1), size_of(inputs, 3, 2) or 0
    if new is not None:
        yield 5, Need(before + new - 1, before + new - 1, LENGTH)
        yield 6, Need(before + new, before + new, COUNT)
        yield 9, Need(before, before, INDEX) if new == 1 else index_into(size_of(inputs, 7, 0))


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
    *alike("Attention QAttention", domain=MICROSOFT, shape=_fused_attention_shape),
    *alike("MultiHeadAttention", domain=MICROSOFT, shape=_multi_head_shape),
    *alike("GroupQueryAttention", domain=MICROSOFT, shape=_grouped_attention_shape, ranges=_grouped_ranges),
)

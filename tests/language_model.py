"""A causal language model of one layer with a cache, by hand: 16 tokens, learned positions, random weights; and with one fault."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOKENS, WIDTH, LONGEST = 16, 8, 32

_GRAPH = """
token = Gather(embedding, input_ids)
place = Gather(places, position_ids)
x = Add(token, place)
q = MatMul(x, w_query)
new_key = MatMul(x, w_key)
new_value = MatMul(x, w_value)
present_key = Concat<axis=1>(past_key, new_key)
present_value = Concat<axis=1>(past_value, new_value)
key = Identity(present_key)
value = Identity(present_value)
turned = Transpose<perm=0 2 1>(key)
scores = MatMul(q, turned)
mask_shape = Shape(attention_mask)
every = Gather<axis=0>(mask_shape, one)
ids_shape = Shape(input_ids)
new = Gather<axis=0>(ids_shape, one)
here = Range(zero, every, one)
before = Sub(every, new)
query = Range(before, every, one)
column = Unsqueeze(query, axis_one)
seen = LessOrEqual(here, column)
known = Greater(attention_mask, zero)
known_row = Unsqueeze(known, axis_one)
both = And(seen, known_row)
hidden = Where(both, nothing, low)
masked = Add(scores, hidden)
weights = Softmax<axis=-1>(masked)
mixed = MatMul(weights, value)
after = Add(x, mixed)
output_weights = Transpose<perm=1 0>(embedding)
logits = MatMul(after, output_weights)
"""
FAULTS = {
    "": ("", ()),
    "sees the next token": (
        "column = Unsqueeze(query, axis_one)",
        ("later = Add(query, one)", "column = Unsqueeze(later, axis_one)"),
    ),
    "counts positions from each call's first": (
        "place = Gather(places, position_ids)",
        (
            "shape = Shape(input_ids)",
            "length = Gather<axis=0>(shape, one)",
            "from_zero = Range(zero, length, one)",
            "place = Gather(places, from_zero)",
        ),
    ),
    "loses the newest of the cache": (
        "key = Identity(present_key)",
        (
            "lost = Slice(past_key, axis_zero, last, axis_one)",
            "gap = Slice(past_key, last, end, axis_one)",
            "no_gap = Mul(gap, nothing)",
            "key = Concat<axis=1>(lost, no_gap, new_key)",
        ),
    ),
    "reads a batch mate": (
        "value = Identity(present_value)",
        (
            "batch = Shape(present_value)",
            "first = Slice(present_value, axis_zero, axis_one, axis_zero)",
            "value = Expand(first, batch)",
        ),
    ),
    "counts positions back from the end of a row": (
        "place = Gather(places, position_ids)",
        (
            "row_shape = Shape(attention_mask)",
            "row = Gather<axis=0>(row_shape, one)",
            "call_shape = Shape(input_ids)",
            "fresh = Gather<axis=0>(call_shape, one)",
            "start = Sub(row, fresh)",
            "columns = Range(start, row, one)",
            "read = ReduceSum(attention_mask, axis_one)",
            "padded = Sub(read, row)",
            "counted = Add(columns, padded)",
            "place = Gather(places, counted)",
        ),
    ),
    "sees padding": ("known = Greater(attention_mask, zero)", ("known = GreaterOrEqual(attention_mask, zero)",)),
}
"""By name, a line and what stands in its place."""


def write(path: Path, fault: str = "") -> Path:
    line, others = FAULTS[fault]
    assert line in _GRAPH
    text = _GRAPH.replace(line, "\n".join(others)) if line else _GRAPH
    draw = np.random.default_rng(5)
    weights = {name: draw.normal(0, 0.6, (WIDTH, WIDTH)) for name in ("w_query", "w_key", "w_value")}
    weights |= {"embedding": draw.normal(0, 0.8, (TOKENS, WIDTH)), "places": draw.normal(0, 0.5, (LONGEST, WIDTH))}
    arrays = {name: array.astype(np.float32) for name, array in weights.items()}
    arrays |= {name: np.array(value, np.float32) for name, value in (("nothing", 0.0), ("low", -1e4))}
    whole = {"zero": 0, "one": 1, "axis_zero": [0], "axis_one": [1], "last": [-1], "end": [2**62]}
    arrays |= {name: np.array(value, np.int64) for name, value in whole.items()}
    cache: dict[str, list[str | int]] = {part: ["batch", f"past_{part}", WIDTH] for part in ("key", "value")}
    inputs = [
        _value("input_ids", ["batch", "new"], TensorProto.INT64),
        _value("attention_mask", ["batch", "every"], TensorProto.INT64),
        _value("position_ids", ["batch", "new"], TensorProto.INT64),
        *(_value(f"past_{part}", shape) for part, shape in cache.items()),
    ]
    outputs = [
        _value("logits", ["batch", "new", TOKENS]),
        *(_value(f"present_{part}", ["batch", f"all_{part}", WIDTH]) for part in cache),
    ]
    nodes = [_node(line) for line in text.split("\n") if line]
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "language_model", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    return path


def _value(name: str, shape: Sequence[str | int], kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _node(line: str) -> onnx.NodeProto:
    gives, _, call = line.partition(" = ")
    head, _, rest = call.partition("(")
    kind, _, said = head.partition("<")
    name, _, value = said.rstrip(">").partition("=")
    numbers = [int(part) for part in value.split()]
    attributes: dict[str, Any] = {name: numbers if name == "perm" else numbers[0]} if name else {}
    return helper.make_node(kind, rest.rstrip(")").split(", "), [gives], **attributes)

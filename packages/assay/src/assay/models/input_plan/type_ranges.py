"""Inputs of eight bits and less that a model takes for real numbers, pixels and quantized values: they have all that their type holds."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.input_plan import InputRange, RangeSource
from assay.core.model import Model
from assay.models.input_plan.graph import Graph, subgraphs
from assay.numerics.shapes.values import Node

_BITS = (2, 4, 8)
_HOLDS = {f"uint{bits}": (0.0, 2.0**bits - 1) for bits in _BITS} | {
    f"int{bits}": (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) for bits in _BITS
}
_MOVE = {
    "Identity",
    "Squeeze",
    "Unsqueeze",
    "Reshape",
    "Flatten",
    "Transpose",
    "Slice",
    "Concat",
    "Split",
    "Pad",
    "Expand",
    "Tile",
}
"""Operators that give the numbers of their first input, or of all of them."""
_REAL = (1, 10, 11, 16)
"""float32, float16, float64 and bfloat16, as Cast names them (TensorProto.DataType)."""


def type_ranges(graph: Graph, model: Model) -> dict[str, InputRange]:
    """By name of the input, where nothing else reads it."""
    real: dict[
        str, bool
    ] = {}  # of a value that is read: whether all that reads it, moved or not, makes real numbers of it
    for node in reversed(graph.nodes):
        read = [real[name] for name in node.outputs if name in real]
        moved = node.op in _MOVE and bool(read) and all(read)
        for place, name in enumerate(node.inputs):
            real[name] = real.get(name, True) and _is_real(node, place, moved=moved)
        real.update(dict.fromkeys(_outer_names(node), False))
    return {
        spec.name: InputRange(*_HOLDS[spec.dtype], source=RangeSource.TYPE)
        for spec in model.inputs
        if spec.dtype in _HOLDS and real.get(spec.name, False)
    }


def _is_real(node: Node, place: int, *, moved: bool) -> bool:
    """Whether a node makes real numbers of the input at that place; `moved` is whether its outputs are made so."""
    if node.op == "Cast":
        return node.attributes.get("to") in _REAL
    if node.op == "Concat":
        return moved
    return place == 0 and (node.op == "DequantizeLinear" or moved)


def _outer_names(node: Node) -> Iterable[str]:
    """What the bodies of a node may read of the values around it."""
    for body in subgraphs(node):
        for inner in body.nodes:
            yield from inner.inputs
            yield from _outer_names(inner)

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
    readers: dict[str, list[Node]] = {}
    for node in graph.nodes:
        for name in (*node.inputs, *_outer_names(node)):
            readers.setdefault(name, []).append(node)
    return {
        spec.name: InputRange(*_HOLDS[spec.dtype], source=RangeSource.TYPE)
        for spec in model.inputs
        if spec.dtype in _HOLDS and _are_real(spec.name, readers)
    }


def _outer_names(node: Node) -> Iterable[str]:
    """What the bodies of a node may read of the values around it."""
    for body in subgraphs(node):
        for inner in body.nodes:
            yield from inner.inputs
            yield from _outer_names(inner)


def _are_real(name: str, readers: dict[str, list[Node]]) -> bool:
    """Whether all that reads a value, moved or not, makes real numbers of it."""
    nodes = readers.get(name, [])
    return bool(nodes) and all(_is_real(name, node, readers) for node in nodes)


def _is_real(name: str, node: Node, readers: dict[str, list[Node]]) -> bool:
    if node.op == "Cast":
        return node.attributes.get("to") in _REAL
    if node.op != "Concat" and name in node.inputs[1:]:
        return False
    read = [one for one in node.outputs if one in readers]
    return node.op == "DequantizeLinear" or (
        node.op in _MOVE and bool(read) and all(_are_real(one, readers) for one in read)
    )

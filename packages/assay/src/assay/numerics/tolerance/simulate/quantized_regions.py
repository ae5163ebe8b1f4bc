"""What lies between two grids of eight bits: there the noise is that of the grid, and single precision is fine enough."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import GraphProto, NodeProto

from assay.core.dtype import is_floating
from assay.numerics.tolerance.rules.rounding_sites import Deviation
from assay.ports import Tensor

_EIGHT = frozenset({"int8", "uint8"})
_SILENT = 2.0**-20
"""Of the largest value: a quarter of what requantizing leaves (2^-10 of a step) on a grid of 256 steps."""


def quantized_regions(
    graph: GraphProto, types: Mapping[str, str], control: Mapping[str, tuple[int, ...]]
) -> frozenset[str]:
    """Values that go nowhere but onto a grid of eight bits and back, as data (not by an input that `control` names). None where
    there is control flow."""
    outputs = {value.name for value in graph.output}
    if any(attribute.HasField("g") for node in graph.node for attribute in node.attribute):
        return frozenset()
    readers: dict[str, list[tuple[NodeProto, int]]] = {}
    for node in graph.node:
        for position, name in enumerate(node.input):
            readers.setdefault(name, []).append((node, position))
    quantized: set[str] = set()

    def ends(node: NodeProto, position: int) -> bool:
        if node.op_type == "QuantizeLinear":
            whole = node.output[0]
            back = all(at == 0 and reader.op_type == "DequantizeLinear" for reader, at in readers.get(whole, ()))
            return position == 0 and types.get(whole) in _EIGHT and back and whole not in outputs
        return quantized.issuperset(filter(None, node.output)) and position not in control.get(node.op_type, ())

    for node in reversed(graph.node):
        written = [name for name in node.output if name]
        if node.domain in ("", "ai.onnx") and all(
            name not in outputs
            and is_floating(types.get(name, ""))
            and name in readers
            and all(ends(*reader) for reader in readers[name])
            for name in written
        ):
            quantized.update(written)
    return frozenset(quantized)


def is_silent(deviation: Deviation, value: Tensor) -> bool:
    """Whether noise that goes onto a grid of eight bits is none beside that of the grid."""
    return float(deviation.max(initial=0.0)) <= _SILENT * float(abs(value).max(initial=0.0))

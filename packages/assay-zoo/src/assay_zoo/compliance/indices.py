"""Constant indices, axes and steps that lie outside of what they index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay_zoo.compliance.constants import Known
from assay_zoo.compliance.finding import Area, Finding
from assay_zoo.compliance.types import Shape, format_shape
from assay_zoo.compliance.walk import called, domain_of

if TYPE_CHECKING:
    from onnx import NodeProto

_AXIS: dict[str, int | None] = {
    "Gather": 0, "GatherElements": 0, "ScatterElements": 0, "Scatter": 0, "Concat": None, "Softmax": None,
    "LogSoftmax": None, "Hardmax": None, "ArgMax": 0, "ArgMin": 0, "Split": 0, "TopK": -1, "LayerNormalization": -1,
    "Compress": None,
}  # fmt: skip
"""Operators whose attribute `axis` counts the axes of the first input, with its default where that is fixed."""
_AXES_INPUT = {"Squeeze": 1, "Slice": 3, "Pad": 3, "CumSum": 1}
"""Where a constant input names axes of the first input; reductions do so in their second."""


def check_indices(known: Known) -> Iterator[Finding]:
    """Of one scope."""
    for index, node in enumerate(known.scope.graph.node):
        if not domain_of(node.domain) and node.input:
            for problem in _problems(node, known):
                yield Finding(Area.NODE, "index", f"{called(node, index)}{known.scope.where} {problem}")


def _problems(node: NodeProto, known: Known) -> Iterator[str]:
    shape = known.shape(node.input[0])
    axis = next((one.i for one in node.attribute if one.name == "axis"), _AXIS.get(node.op_type))
    if shape is not None and node.op_type in _AXIS and axis is not None and not -len(shape) <= axis < len(shape):
        yield f"has axis {axis} for an input of shape {format_shape(shape)}"
    elif shape is not None:
        yield from _axes(node, shape, known)
        yield from _elements(node, shape, axis or 0, known)
    if node.op_type == "Slice" and 0 in _operand(node, 4, known):
        yield "has a step of 0"
    if node.op_type == "Range" and len(node.input) > 2 and known.number(node.input[2]) == 0:
        yield "has a delta of 0"
    if node.op_type in ("Div", "Mod") and 0 in _operand(node, 1, known):
        yield "divides whole numbers by 0"


def _axes(node: NodeProto, shape: Shape, known: Known) -> Iterator[str]:
    place = 1 if node.op_type.startswith("Reduce") else _AXES_INPUT.get(node.op_type)
    for one in _operand(node, place, known) if place is not None else ():
        if not -len(shape) <= one < len(shape):
            yield f"has axis {one} for an input of shape {format_shape(shape)}"


def _elements(node: NodeProto, shape: Shape, axis: int, known: Known) -> Iterator[str]:
    """Indices of Gather and its relatives; negative ones count from the end."""
    size = shape[axis] if -len(shape) <= axis < len(shape) else "?"
    if node.op_type in ("Gather", "GatherElements", "ScatterElements", "Scatter") and isinstance(size, int):
        for one in _operand(node, 1, known):
            if not -size <= one < size:
                yield f"has the constant index {one} for axis {axis} of an input of shape {format_shape(shape)}"
                return
    if node.op_type == "TopK" and isinstance(size, int):
        for count in _operand(node, 1, known):
            if not 0 <= count <= size:
                yield f"asks for the top {count} of axis {axis} of an input of shape {format_shape(shape)}"
    if node.op_type in ("GatherND", "ScatterND"):
        yield from _tuples(node, shape, known)


def _tuples(node: NodeProto, shape: Shape, known: Known) -> Iterator[str]:
    indices = known.constants.get(node.input[1]) if len(node.input) > 1 else None
    skipped = next((one.i for one in node.attribute if one.name == "batch_dims"), 0)
    if indices is None or not indices.ndim or not indices.size or indices.dtype.kind not in "iu":
        return
    for row in indices.reshape(-1, indices.shape[-1]).tolist():
        for one, size in zip(row, shape[skipped:], strict=False):
            if isinstance(size, int) and not -size <= one < size:
                yield f"has the constant index {row} for an input of shape {format_shape(shape)}"
                return


def _operand(node: NodeProto, place: int, known: Known) -> list[int]:
    """A constant operand of whole numbers; empty where it is none."""
    return (known.ints(node.input[place]) if len(node.input) > place else None) or []

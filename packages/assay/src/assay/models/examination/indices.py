"""Constant indices and axes that lie outside of what they index, and whole numbers divided by 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.models.examination.known_values import Known
from assay.models.examination.quoting import format_shape
from assay.models.examination.types import Shape
from assay.models.examination.walk import domain_of, node_part

if TYPE_CHECKING:
    from onnx import NodeProto

_AXES_INPUT = {"Squeeze": 1, "Slice": 3, "Pad": 3, "CumSum": 1}
"""Where a constant input names axes of the first input; reductions do so in their second."""


Problem = tuple[str, tuple[int | str, ...]]
"""A code, and the values of its sentence."""


def check_indices(known: Known) -> Iterator[ModelFinding]:
    """Of one scope. What is inside a branch or a loop may never run."""
    severity = Severity.INVALID if known.scope.root else Severity.RESTRICTED
    for index, node in enumerate(known.scope.graph.node):
        if not domain_of(node.domain) and node.input:
            for code, values in _problems(node, known):
                yield ModelFinding(Area.NODE, code, node_part(node, index, known.scope.where), values, severity)


def _problems(node: NodeProto, known: Known) -> Iterator[Problem]:
    """Axes in attributes, and steps of 0, are told by onnx's own inference."""
    shape = known.shape(node.input[0])
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    if shape is not None:
        yield from _axes(node, shape, known)
        yield from _elements(node, shape, axis, known)
    if node.op_type == "Range" and len(node.input) > 2 and known.number(node.input[2]) == 0:
        yield "zero-delta", ()
    if node.op_type in ("Div", "Mod") and 0 in _operand(node, 1, known):
        yield "zero-divisor", ()


def _axes(node: NodeProto, shape: Shape, known: Known) -> Iterator[Problem]:
    place = 1 if node.op_type.startswith("Reduce") else _AXES_INPUT.get(node.op_type)
    for axis in _operand(node, place, known) if place is not None else ():
        if not -len(shape) <= axis < len(shape):
            yield "axis", (axis, format_shape(shape))


def _elements(node: NodeProto, shape: Shape, axis: int, known: Known) -> Iterator[Problem]:
    """Indices of Gather and its relatives; negative ones count from the end."""
    size = shape[axis] if -len(shape) <= axis < len(shape) else "?"
    if node.op_type in ("Gather", "GatherElements", "ScatterElements", "Scatter") and isinstance(size, int):
        for index in _operand(node, 1, known):
            if not -size <= index < size:
                yield "index", (index, axis, format_shape(shape))
                return
    if node.op_type in ("GatherND", "ScatterND"):
        yield from _tuples(node, shape, known)


def _tuples(node: NodeProto, shape: Shape, known: Known) -> Iterator[Problem]:
    indices = known.constants.get(node.input[1]) if len(node.input) > 1 else None
    skipped = next((attribute.i for attribute in node.attribute if attribute.name == "batch_dims"), 0)
    if indices is None or not indices.ndim or not indices.size or indices.dtype.kind not in "iu":
        return
    for row in indices.reshape(-1, indices.shape[-1]).tolist():
        for axis, (index, size) in enumerate(zip(row, shape[skipped:], strict=False), skipped):
            if isinstance(size, int) and not -size <= index < size:
                yield "index", (index, axis, format_shape(shape))
                return


def _operand(node: NodeProto, place: int, known: Known) -> list[int]:
    """A constant operand of whole numbers; empty where it is none."""
    return (known.ints(node.input[place]) if len(node.input) > place else None) or []

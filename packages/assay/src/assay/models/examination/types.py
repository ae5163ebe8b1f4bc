"""Declared types of inputs, outputs and values; and of inputs that are initializers at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.quoting import format_shape
from assay.models.examination.walk import Scope
from assay.numerics.onnx_elements import element_name

if TYPE_CHECKING:
    from onnx import TypeProto, ValueInfoProto

LARGEST_INDEX = 2**63 - 1
"""Dimensions and their product are int64 in every runtime."""
Shape = tuple[int | str, ...]


def check_types(everything: Sequence[Scope]) -> Iterator[ModelFinding]:
    """What is declared, compared with itself and with the initializers."""
    for scope in everything:
        area = Area.GRAPH if scope.function is None else Area.FUNCTION
        for kind, values in (
            (PartKind.INPUT, scope.graph.input),
            (PartKind.OUTPUT, scope.graph.output),
            (PartKind.VALUE, scope.graph.value_info),
        ):
            typed = scope.function is None and scope.root and kind is not PartKind.VALUE
            for value in values:
                yield from _declared(value, ModelPart(kind, value.name, inside=scope.where), area, typed=typed)
        yield from _overridden(scope)


def shape_of(kind: TypeProto) -> Shape | None:
    """Numbers, and a symbol ("?" for none) where a dimension is free; None where not even the rank is declared."""
    if not kind.tensor_type.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?" for dim in kind.tensor_type.shape.dim
    )


def _declared(value: ValueInfoProto, about: ModelPart, area: Area, *, typed: bool) -> Iterator[ModelFinding]:
    if value.type.WhichOneof("value") != "tensor_type":
        for inner in _elements(value.type):
            if (inner or typed) and not element_name(inner):
                yield ModelFinding(area, "no-type", about, (inner,))
        return
    element = value.type.tensor_type.elem_type
    if element == 0 and not typed and not value.type.tensor_type.HasField("shape"):
        return
    if not element_name(element):
        yield ModelFinding(area, "no-type", about, (element,))
        return
    shape = shape_of(value.type) or ()
    sizes = [size for size in shape if isinstance(size, int)]
    if any(size < 0 for size in sizes):
        # Exporters write -1 where any size is taken: every backend but some reads it so.
        severity = Severity.INVALID if min(sizes) < -1 else Severity.RESTRICTED
        yield ModelFinding(area, "negative-dimension", about, (format_shape(shape),), severity)
    elif prod(sizes) > LARGEST_INDEX:
        yield ModelFinding(area, "overflow", about, (format_shape(shape),))


def _elements(kind: TypeProto) -> Iterator[int]:
    """The element types of a sequence, a map or an optional value, however deep."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        yield getattr(kind, which).elem_type
    elif which in ("sequence_type", "optional_type"):
        yield from _elements(getattr(kind, which).elem_type)
    elif which == "map_type":
        yield kind.map_type.key_type
        yield from _elements(kind.map_type.value_type)


def _overridden(scope: Scope) -> Iterator[ModelFinding]:
    """An initializer that is an input, too, is its default: of the same type."""
    inputs = {value.name: value for value in scope.graph.input}
    for tensor in scope.graph.initializer:
        value = inputs.get(tensor.name)
        if value is None or value.type.WhichOneof("value") != "tensor_type":
            continue
        declared, shape = value.type.tensor_type.elem_type, shape_of(value.type)
        same = shape is None or (
            len(shape) == len(tensor.dims)
            and all(
                isinstance(size, str) or size in (other, -1) for size, other in zip(shape, tensor.dims, strict=True)
            )
        )
        if declared != tensor.data_type or not same:
            ours = f"{element_name(declared)} {format_shape(shape or ())}"
            theirs = f"{element_name(tensor.data_type)} {format_shape(tensor.dims)}"
            about = ModelPart(PartKind.INPUT, tensor.name, inside=scope.where)
            yield ModelFinding(Area.GRAPH, "default-type", about, (ours, theirs))

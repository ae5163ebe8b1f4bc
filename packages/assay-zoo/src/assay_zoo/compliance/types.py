"""Declared types: of inputs, outputs and values; and of inputs that are initializers at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from assay_zoo.compliance.element import bits_of, element_name
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.request import ClaimedPort, Request
from assay_zoo.compliance.walk import Scope

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto, ValueInfoProto

LARGEST_INDEX = 2**63 - 1
"""Dimensions and their product are int64 in every runtime."""
Shape = tuple[int | str, ...]


def check_types(model: ModelProto, everything: Sequence[Scope], request: Request) -> Iterator[Finding]:
    """What is declared, compared with itself, the initializers, the policy's bound and metadata.toml."""
    for scope in everything:
        area = Area.GRAPH if scope.function is None else Area.FUNCTION
        for role, values in (
            ("input", scope.graph.input),
            ("output", scope.graph.output),
            ("value", scope.graph.value_info),
        ):
            untyped = scope.function is not None or not scope.root or role == "value"
            for value in values:
                yield from _declared(value, f"{role} {shown(value.name)}{scope.where}", area, request, untyped=untyped)
        yield from _overridden(scope)
    given = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in given]
    yield from _claims("input", inputs, request.claimed_inputs)
    yield from _claims("output", model.graph.output, request.claimed_outputs)


def shape_of(kind: TypeProto) -> Shape | None:
    """Numbers, and a symbol ("?" for none) where a dimension is free; None where not even the rank is declared."""
    if not kind.tensor_type.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?" for dim in kind.tensor_type.shape.dim
    )


def _declared(value: ValueInfoProto, what: str, area: Area, request: Request, *, untyped: bool) -> Iterator[Finding]:
    kind = value.type.WhichOneof("value")
    if kind is None:
        if not untyped:
            yield Finding(area, "no-type", f"{what} declares no type; export the model again")
        return
    if kind != "tensor_type":
        return
    element = value.type.tensor_type.elem_type
    if element == 0 and untyped and not value.type.tensor_type.HasField("shape"):
        return
    if not element_name(element):
        yield Finding(area, "no-type", f"{what} is declared with element type {element}, which there is none of")
        return
    shape = shape_of(value.type) or ()
    sizes = [size for size in shape if isinstance(size, int)]
    if any(size < 0 for size in sizes):
        yield Finding(
            area, "negative-dimension", f"{what} is declared with shape {format_shape(shape)}: no size is negative"
        )
    elif prod(sizes) > LARGEST_INDEX:
        yield Finding(
            area, "overflow", f"{what} is declared with shape {format_shape(shape)}: more elements than an int64 counts"
        )
    elif prod(sizes) * bits_of(element) // 8 > request.allocation_bytes:
        size = prod(sizes) * bits_of(element) // 8
        limit = f"this zoo allows {request.allocation_bytes}"
        yield Finding(area, "allocation", f"{what} is declared with shape {format_shape(shape)}: {size} bytes, {limit}")


def format_shape(shape: Iterable[int | str]) -> str:
    """As people write it: [N, 3, 224, 224]."""
    return f"[{', '.join(str(size)[:40] for size in shape)}]"


def _overridden(scope: Scope) -> Iterator[Finding]:
    """An initializer that is an input, too, is its default: of the same type."""
    inputs = {value.name: value for value in scope.graph.input}
    for tensor in scope.graph.initializer:
        value = inputs.get(tensor.name)
        if value is None or value.type.WhichOneof("value") != "tensor_type":
            continue
        declared, shape = value.type.tensor_type.elem_type, shape_of(value.type)
        same = shape is None or (
            len(shape) == len(tensor.dims)
            and all(isinstance(one, str) or one == other for one, other in zip(shape, tensor.dims, strict=True))
        )
        if declared != tensor.data_type or not same:
            ours = f"{element_name(declared)} {format_shape(shape or ())}"
            theirs = f"{element_name(tensor.data_type)} {format_shape(tensor.dims)}"
            yield Finding(
                Area.GRAPH,
                "default-type",
                f"input {shown(tensor.name)}{scope.where} is declared {ours}, and its initializer is {theirs}",
            )


def _claims(role: str, values: Sequence[ValueInfoProto], claims: Sequence[ClaimedPort]) -> Iterator[Finding]:
    """The ports of metadata.toml are those of the model, in its order."""
    if not claims:
        return
    names, claimed = [value.name for value in values], [port.name for port in claims]
    if names != claimed:
        ours, theirs = ", ".join(map(shown, claimed)), ", ".join(map(shown, names))
        yield _claim(f"metadata.toml lists the {role}s {ours}, and the model has {theirs}; correct metadata.toml")
        return
    for value, port in zip(values, claims, strict=True):
        if value.type.WhichOneof("value") != "tensor_type":
            continue
        element, shape = element_name(value.type.tensor_type.elem_type), shape_of(value.type)
        what = f"{role} {shown(port.name)}: metadata.toml says"
        if element and port.dtype != element:
            yield _claim(f"{what} {shown(port.dtype)}, and the model {element}")
        if shape is not None and not _fits(shape, port.shape):
            yield _claim(f"{what} {format_shape(port.shape)}, and the model {format_shape(shape)}")


def _fits(shape: Shape, claimed: Shape) -> bool:
    """Numbers are the same numbers, and what is free is free; its name may be another."""
    return len(shape) == len(claimed) and all(
        one == other or (isinstance(one, str) and isinstance(other, str))
        for one, other in zip(shape, claimed, strict=True)
    )


def _claim(sentence: str) -> Finding:
    return Finding(Area.GRAPH, "claimed-port", sentence)

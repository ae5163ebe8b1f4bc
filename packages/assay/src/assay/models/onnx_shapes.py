"""Whether the outputs of a graph have the shapes that it declares, as far as ONNX's own shape inference can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, ValueInfoProto

_SMALL = 1024
"""Elements of a constant that may be a shape; what is larger is a weight, of which only the sizes matter."""


def shape_problems(proto: ModelProto) -> Iterator[str]:
    """One for each input or output of a size below -1, as the predicate of a sentence about the model."""
    for value in (*proto.graph.input, *proto.graph.output):
        least = min((dim.dim_value for dim in value.type.tensor_type.shape.dim), default=0)
        if least < -1:
            # Backends differ: ONNX Runtime takes any size there, OpenVINO 2026.4 none but 0.
            yield (
                f"declares a size of {least} for {value.name!r}: a size is 0 or more, and a name (or -1) where any is taken; "
                "export the model again"
            )


def contradictions(proto: ModelProto) -> Iterator[str]:
    """One sentence for each output whose declared rank or size another is inferred for. Symbols, and whatever inference does not
    know, are left alone. Every engine gives what the nodes give, so that the declaration alone is wrong."""
    inferred = _inferred(proto)
    for value in proto.graph.output:
        declared, found = _sizes(value), inferred.get(value.name)
        if declared is None or found is None:
            continue
        if len(declared) != len(found) or any(
            a != b for a, b in zip(declared, found, strict=True) if None not in (a, b)
        ):
            yield f"the model declares output {value.name!r} as {_text(declared)}, and its nodes give {_text(found)}"


Sizes = tuple[int | None, ...]


def _inferred(proto: ModelProto) -> dict[str, Sizes]:
    """By name of the output, from a copy that has no declared shapes of outputs and no large weights. Empty where the
    inference fails: of a model that the checker passed it says nothing about the shapes then."""
    from onnx import ModelProto, shape_inference

    bare = ModelProto(ir_version=proto.ir_version, opset_import=proto.opset_import, functions=proto.functions)
    bare.graph.name = proto.graph.name
    bare.graph.node.extend(proto.graph.node)
    bare.graph.input.extend(proto.graph.input)
    _add_weights(bare.graph, proto.graph)
    for value in proto.graph.output:
        kept = bare.graph.output.add(name=value.name)
        kept.type.tensor_type.elem_type = value.type.tensor_type.elem_type
    try:
        outputs = shape_inference.infer_shapes(bare, data_prop=True).graph.output
    except (RuntimeError, ValueError, TypeError, IndexError):  # InferenceError is a RuntimeError
        return {}
    return {value.name: sizes for value in outputs if (sizes := _sizes(value)) is not None}


def _add_weights(bare: GraphProto, graph: GraphProto) -> None:
    from math import prod

    known = {value.name for value in graph.input}
    for tensor in graph.initializer:
        if prod(tensor.dims) <= _SMALL and not tensor.external_data:
            bare.initializer.append(tensor)
        elif tensor.name not in known:
            kind = bare.input.add(name=tensor.name).type.tensor_type
            kind.elem_type = tensor.data_type
            kind.shape.SetInParent()
            for size in tensor.dims:
                kind.shape.dim.add(dim_value=size)


def _sizes(value: ValueInfoProto) -> Sizes | None:
    kind = value.type.tensor_type
    if value.type.WhichOneof("value") != "tensor_type" or not kind.HasField("shape"):
        return None
    return tuple(dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None for dim in kind.shape.dim)


def _text(sizes: Sizes) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in sizes) + "]"

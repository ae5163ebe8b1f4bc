"""The element types that a model itself has: what is coarse in it was not made so by a compiler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.dtype import dtype_name
from assay.models.conversion import form_of
from assay.models.program import open_program

if TYPE_CHECKING:
    from onnx import GraphProto


def element_types(model: Path) -> frozenset[str]:
    """Of inputs, outputs, weights, casts and whatever types are written down of inner tensors."""
    return frozenset(_of_program(model) if form_of(model) == "torch" else _of_graph(model))


def _of_graph(model: Path) -> Iterator[str]:
    import onnx

    proto = onnx.load(model, load_external_data=False)
    found = set(_elements(proto.graph))
    for function in proto.functions:
        for node in function.node:
            found |= {one.i for one in node.attribute if one.name == "to"}
    known = set(onnx.TensorProto.DataType.values()) - {onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING}
    return (dtype_name(onnx.helper.tensor_dtype_to_np_dtype(kind)) for kind in found & known)


def _elements(graph: GraphProto) -> Iterator[int]:
    yield from (value.type.tensor_type.elem_type for value in (*graph.input, *graph.output, *graph.value_info))
    yield from (tensor.data_type for tensor in graph.initializer)
    for node in graph.node:
        for one in node.attribute:
            if one.name in ("to", "dtype", "output_dtype"):
                yield one.i
            if one.HasField("t"):
                yield one.t.data_type
            for inner in (one.g, *one.graphs):
                yield from _elements(inner)
        if node.op_type == "DynamicQuantizeLinear":
            yield 2  # uint8, and nothing in the graph says so


def _of_program(model: Path) -> Iterator[str]:
    from assay.models.torch_graph.dtypes import name_of

    exported: Any = open_program(model).exported
    values = [node.meta.get("val") for node in exported.graph.nodes]
    return (name_of(one.dtype) for value in values for one in _each(value) if hasattr(one, "dtype"))


def _each(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)

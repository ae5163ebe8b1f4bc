"""A model rewritten into double precision: the same computation with every float32, float16 and bfloat16 widened.

Integers, booleans, text and the storage types of quantization (float8, float4, int4) stay: rounding to them is part of
the model, rounding to a narrower float while computing is not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, numpy_helper

NARROW = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
# Integer attributes that hold an element type. LayerNormalization's stash_type is not among them: onnx.reference
# accepts only 1 there and computes in the type of its input.
_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype", "precision", "softmax_precision")


def widen(proto: ModelProto | GraphProto | FunctionProto | NodeProto) -> None:
    """In place; a second time changes nothing. Tensors must be loaded (no external data)."""
    match proto:
        case ModelProto():
            _widen_graph(proto.graph)
            for function in proto.functions:
                widen(function)
        case GraphProto():
            _widen_graph(proto)
        case FunctionProto():
            _widen_types(info.type for info in proto.value_info)
            for node in proto.node:
                _widen_node(node)
            for attribute in proto.attribute_proto:
                _widen_attribute(attribute)
        case NodeProto():
            _widen_node(proto)


def _widen_graph(graph: GraphProto) -> None:
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for sparse in graph.sparse_initializer:
        _widen_tensor(sparse.values)
    _widen_types(info.type for info in (*graph.input, *graph.output, *graph.value_info))
    for node in graph.node:
        _widen_node(node)


def _widen_node(node: NodeProto) -> None:
    if node.op_type == "ConstantOfShape" and not node.attribute:
        node.attribute.append(onnx.helper.make_attribute("value", numpy_helper.from_array(np.zeros(1))))
    for attribute in node.attribute:
        if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            _constant(attribute)
        _widen_attribute(attribute)


def _constant(attribute: AttributeProto) -> None:
    """`value_float` is float32 by definition: say the same number as a double tensor. A link to a function stays."""
    if attribute.ref_attr_name:
        return
    number = attribute.f if attribute.name == "value_float" else list(attribute.floats)
    attribute.CopyFrom(onnx.helper.make_attribute("value", numpy_helper.from_array(np.array(number, np.float64))))


def _widen_attribute(attribute: AttributeProto) -> None:
    if attribute.name in _TYPE_ATTRIBUTES and attribute.type == AttributeProto.INT and attribute.i in NARROW:
        attribute.i = TensorProto.DOUBLE
    if attribute.HasField("t"):
        _widen_tensor(attribute.t)
    if attribute.HasField("sparse_tensor"):
        _widen_tensor(attribute.sparse_tensor.values)
    if attribute.HasField("tp"):
        _widen_types([attribute.tp])
    for tensor in attribute.tensors:
        _widen_tensor(tensor)
    if attribute.HasField("g"):
        _widen_graph(attribute.g)
    for graph in attribute.graphs:
        _widen_graph(graph)


def _widen_tensor(tensor: TensorProto) -> None:
    if tensor.data_type in NARROW:
        wide = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))


def _widen_types(types: Iterable[TypeProto]) -> None:
    for one in types:
        match one.WhichOneof("value"):
            case "tensor_type" if one.tensor_type.elem_type in NARROW:
                one.tensor_type.elem_type = TensorProto.DOUBLE
            case "sparse_tensor_type" if one.sparse_tensor_type.elem_type in NARROW:
                one.sparse_tensor_type.elem_type = TensorProto.DOUBLE
            case "sequence_type":
                _widen_types([one.sequence_type.elem_type])
            case "optional_type":
                _widen_types([one.optional_type.elem_type])
            case "map_type":
                _widen_types([one.map_type.value_type])
            case _:
                pass

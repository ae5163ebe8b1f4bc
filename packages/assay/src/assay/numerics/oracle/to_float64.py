"""A model rewritten into one floating type: the same computation with every float32, float16 and bfloat16 widened.

Integers, booleans, text and the storage types of quantization (float8, float4, int4) stay: rounding to them is part of
the model, rounding to a narrower float while computing is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, numpy_helper

_REAL = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
_TARGETS = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT}
# Integer attributes that hold an element type. LayerNormalization's stash_type is not among them: onnx.reference
# accepts only 1 there and computes in the type of its input.
_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype", "precision", "softmax_precision")


@cache
def _types_by_default(operator: str, domain: str) -> frozenset[str]:
    """Attributes that hold a real type even where the node does not name them (windows, what is drawn at random)."""
    if domain not in ("", "ai.onnx") or not onnx.defs.has(operator):
        return frozenset()
    declared = onnx.defs.get_schema(operator).attributes
    return frozenset(name for name in _TYPE_ATTRIBUTES if name in declared and declared[name].default_value.i in _REAL)


def to_float64(proto: ModelProto | GraphProto | FunctionProto | NodeProto, to: str = "float64") -> None:
    """In place; a second time changes nothing. Tensors must be loaded (no external data). `to` may be "float32" too."""
    _Rewriter(to).rewrite(proto)


class _Rewriter:
    """Every real type becomes one type."""

    def __init__(self, to: str) -> None:
        self._dtype = np.dtype(to)
        self._to = _TARGETS[to]
        self._others = tuple(kind for kind in _REAL if kind != self._to)

    def rewrite(self, proto: ModelProto | GraphProto | FunctionProto | NodeProto) -> None:
        match proto:
            case ModelProto():
                self._graph(proto.graph)
                for function in proto.functions:
                    self.rewrite(function)
            case GraphProto():
                self._graph(proto)
            case FunctionProto():
                self._types(info.type for info in proto.value_info)
                for node in proto.node:
                    self._node(node)
                for attribute in proto.attribute_proto:
                    self._attribute(attribute)
            case NodeProto():
                self._node(proto)

    def _graph(self, graph: GraphProto) -> None:
        for tensor in graph.initializer:
            self._tensor(tensor)
        for sparse in graph.sparse_initializer:
            self._tensor(sparse.values)
        self._types(info.type for info in (*graph.input, *graph.output, *graph.value_info))
        for node in graph.node:
            self._node(node)

    def _node(self, node: NodeProto) -> None:
        if node.op_type == "ConstantOfShape" and not node.attribute:
            zero = numpy_helper.from_array(np.zeros(1, self._dtype))
            node.attribute.append(onnx.helper.make_attribute("value", zero))
        for name in _types_by_default(node.op_type, node.domain) - {attr.name for attr in node.attribute}:
            node.attribute.append(onnx.helper.make_attribute(name, self._to))
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                self._constant(attribute)
            self._attribute(attribute)

    def _constant(self, attribute: AttributeProto) -> None:
        """`value_float` is float32 by definition: say the same number as a tensor. A link to a function stays."""
        if attribute.ref_attr_name:
            return
        number = attribute.f if attribute.name == "value_float" else list(attribute.floats)
        tensor = numpy_helper.from_array(np.array(number, self._dtype))
        attribute.CopyFrom(onnx.helper.make_attribute("value", tensor))

    def _attribute(self, attribute: AttributeProto) -> None:
        if attribute.name in _TYPE_ATTRIBUTES and attribute.type == AttributeProto.INT and attribute.i in self._others:
            attribute.i = self._to
        if attribute.HasField("t"):
            self._tensor(attribute.t)
        if attribute.HasField("sparse_tensor"):
            self._tensor(attribute.sparse_tensor.values)
        if attribute.HasField("tp"):
            self._types([attribute.tp])
        for tensor in attribute.tensors:
            self._tensor(tensor)
        if attribute.HasField("g"):
            self._graph(attribute.g)
        for graph in attribute.graphs:
            self._graph(graph)

    def _tensor(self, tensor: TensorProto) -> None:
        if tensor.data_type in self._others:
            with np.errstate(over="ignore"):
                other = numpy_helper.to_array(tensor).astype(self._dtype)
            tensor.CopyFrom(numpy_helper.from_array(other, tensor.name))

    def _types(self, types: Iterable[TypeProto]) -> None:
        for type_proto in types:
            match type_proto.WhichOneof("value"):
                case "tensor_type" if type_proto.tensor_type.elem_type in self._others:
                    type_proto.tensor_type.elem_type = self._to
                case "sparse_tensor_type" if type_proto.sparse_tensor_type.elem_type in self._others:
                    type_proto.sparse_tensor_type.elem_type = self._to
                case "sequence_type":
                    self._types([type_proto.sequence_type.elem_type])
                case "optional_type":
                    self._types([type_proto.optional_type.elem_type])
                case "map_type":
                    self._types([type_proto.map_type.value_type])
                case _:
                    pass

"""Which types a flow asks for, and which a model carries: newer versions take them from the model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from assay.backends.onnx_loader import every_node
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

FP32, TF32, FP16, BF16, INT8, FP8 = "fp32", "tf32", "fp16", "bf16", "int8-qdq", "fp8-qdq"
NAMES = (FP32, TF32, FP16, BF16, INT8, FP8)
_QUANTIZING = ("QuantizeLinear", "DequantizeLinear")


class Carried(msgspec.Struct, frozen=True):
    """The element types of the model's weights, constants, casts, inputs and outputs, and those of its quantization.

    `shifted` is the first Q or DQ node with a zero point other than 0.
    """

    types: frozenset[str]
    quantized: frozenset[str] = frozenset()
    shifted: str = ""


def carried_by(proto: ModelProto) -> Carried:
    """Read from the file."""
    from onnx.helper import tensor_dtype_to_np_dtype

    weights: dict[str, TensorProto] = {tensor.name: tensor for tensor in proto.graph.initializer}
    kinds = {weight.data_type for weight in weights.values()}
    kinds |= {value.type.tensor_type.elem_type for value in (*proto.graph.input, *proto.graph.output)}
    quantized, shifted = set(), ""
    for node in every_node(proto.graph):
        for attribute in node.attribute:
            if attribute.name == "value" and node.op_type == "Constant":
                kinds.add(attribute.t.data_type)
                weights[node.output[0]] = attribute.t
            if attribute.name == "to":
                kinds.add(attribute.i)
        if node.op_type in _QUANTIZING:
            point = weights.get(node.input[2]) if len(node.input) > 2 else None
            stored = _attribute(node, "output_dtype") or (point.data_type if point is not None else _UINT8)
            quantized.add(tensor_dtype_to_np_dtype(stored).name)
            if point is not None and not shifted and _nonzero(point):
                shifted = node.name or node.output[0]
    names = frozenset(tensor_dtype_to_np_dtype(kind).name for kind in kinds if kind and kind != _STRING)
    return Carried(names, frozenset(quantized), shifted)


def require_quantized(carried: Carried, precision: str) -> None:
    """Raises Unsupported where the model does not carry the quantization that the flow is named after."""
    if precision == INT8:
        if "int8" not in carried.quantized:
            raise Unsupported(noted(BackendCode.NOT_QUANTIZED, precision="int8"))
        if carried.shifted:
            raise Unsupported(
                noted(BackendCode.ZERO_POINT, library="TensorRT", node=carried.shifted),
                node=carried.shifted,
            )
    if precision == FP8 and not any(name.startswith("float8") for name in carried.quantized):
        raise Unsupported(noted(BackendCode.NOT_QUANTIZED, precision="float8"))


def require_types(carried: Carried, precision: str, version: str) -> None:
    """Raises Unsupported where types are taken from the model and it does not carry the one that the flow is named after."""
    require_quantized(carried, precision)
    types = _CARRIED.get(precision)
    if types and types not in carried.types:
        raise Unsupported(noted(BackendCode.TYPE_NOT_CARRIED, library="TensorRT", version=version, dtype=types))


_CARRIED = {FP16: "float16", BF16: "bfloat16"}
_UINT8, _STRING = 2, 8


def _attribute(node: object, name: str) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == name), 0)  # type: ignore[attr-defined]


def _nonzero(point: TensorProto) -> bool:
    from onnx import numpy_helper

    return bool(np.any(numpy_helper.to_array(point).astype(np.float32)))

"""Element types of ONNX: their names in Assay, and how many bits one takes in a file."""

from __future__ import annotations

from functools import cache

_PACKED = {
    "INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6,
}  # fmt: skip


@cache
def element_name(element: int) -> str:
    """float32, string ...; "" where onnx has no such type."""
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    if element == TensorProto.STRING:
        return "string"
    try:
        return str(tensor_dtype_to_np_dtype(element).name)
    except KeyError:
        return ""


@cache
def bits_of(element: int) -> int:
    """Of one element in raw data; 0 for text and unknown types."""
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    if element == TensorProto.STRING or not element_name(element):
        return 0
    name = TensorProto.DataType.Name(element)
    return _PACKED.get(name, 8 * int(tensor_dtype_to_np_dtype(element).itemsize))

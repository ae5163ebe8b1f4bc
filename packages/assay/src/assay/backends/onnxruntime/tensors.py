"""Arrays in and out of ONNX Runtime for the types numpy lacks: bfloat16, float8, int4."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from assay.backends.packing import BITS, pack, packed_bytes, unpack
from assay.core.dtype import numpy_dtype
from assay.ports import Tensor

PLAIN = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(bool)": "bool",
    "tensor(string)": "string",
    **{f"tensor({sign}int{bits})": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""ONNX Runtime's names of the types that its `run` takes and gives as they are."""

EXTENSION = {
    "tensor(bfloat16)": "bfloat16",
    "tensor(float8e4m3fn)": "float8_e4m3fn",
    "tensor(float8e4m3fnuz)": "float8_e4m3fnuz",
    "tensor(float8e5m2)": "float8_e5m2",
    "tensor(float8e5m2fnuz)": "float8_e5m2fnuz",
    "tensor(int4)": "int4",
    "tensor(uint4)": "uint4",
    "tensor(int2)": "int2",
    "tensor(uint2)": "uint2",
}


def nests(kind: str) -> bool:
    """Whether it is a sequence, an optional or a map whose tensors `run` takes and gives as they are."""
    if kind.startswith("map("):
        return True
    for container in ("seq(", "optional("):
        if kind.startswith(container):
            inner = kind[len(container) : -1]
            return inner in PLAIN or nests(inner)
    return False


def to_ort_value(array: Tensor) -> Any:
    """An OrtValue of the same elements. int4 is packed two a byte, low half first, as in ONNX.

    The value may share the memory of `array`: keep the array alive while the value is used.
    """
    import onnx
    from onnxruntime import OrtValue

    if array.dtype.kind in "USTO":
        return OrtValue.ortvalue_from_numpy(array.astype(object))
    code = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    if array.dtype.name not in BITS:
        return OrtValue.ortvalue_from_numpy_with_onnx_type(np.asarray(array, order="C"), code)
    value = OrtValue.ortvalue_from_shape_and_type(list(array.shape), code)
    packed = pack(array)
    ctypes.memmove(value.data_ptr(), packed.ctypes.data, packed.nbytes)
    return value


def from_ort_value(value: Any) -> Tensor:
    """A copy, in a dtype of ml_dtypes where numpy has none.

    `OrtValue.numpy()` of onnxruntime 1.31.1 refuses bfloat16 and int4 and calls float8 uint8.
    """
    name = EXTENSION.get(value.data_type())
    if name is None:
        array: Tensor = value.numpy()
        return array
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    dtype = numpy_dtype(name)
    size = packed_bytes(count, name) if name in BITS else count * dtype.itemsize
    raw = np.frombuffer(ctypes.string_at(value.data_ptr(), size) if size else b"", np.uint8)
    return unpack(raw, name, shape) if name in BITS else raw.view(dtype).reshape(shape).copy()

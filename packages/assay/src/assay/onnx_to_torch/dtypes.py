"""Element types of ONNX, numpy and torch, and moving values between numpy and torch without changing a bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Unsupported

_BY_NAME = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e4m3fnuz": torch.float8_e4m3fnuz,
    "float8_e5m2": torch.float8_e5m2,
    "float8_e5m2fnuz": torch.float8_e5m2fnuz,
    "float8_e8m0fnu": torch.float8_e8m0fnu,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
    "bool": torch.bool,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}
_NAMES = {dtype: name for name, dtype in _BY_NAME.items()}
# torch cannot read these from numpy; the bits travel as an integer of the same width.
_CARRIERS = {"bfloat16": np.int16, **{name: np.uint8 for name in _BY_NAME if name.startswith("float8")}}
NARROW = {"int4": np.int8, "uint4": np.uint8, "int2": np.int8, "uint2": np.uint8}
"""Types of numpy (ml_dtypes) without a torch type, and what holds their values."""

Array = np.ndarray[Any, Any]


def torch_dtype(name: str) -> torch.dtype:
    """The torch type of that name. Raises Unsupported for text and for types torch lacks (int4, float4)."""
    if name not in _BY_NAME:
        raise Unsupported(noted(ConversionCode.NO_TENSORS_OF, type=name))
    return _BY_NAME[name]


def name_of(dtype: torch.dtype) -> str:
    """The name used in records."""
    return _NAMES.get(dtype, str(dtype).removeprefix("torch."))


def onnx_dtype(element: int) -> torch.dtype:
    """The torch type of a TensorProto.DataType."""
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    if element == TensorProto.STRING:
        raise Unsupported(noted(ConversionCode.NO_TENSORS_OF_TEXT))
    try:
        name = tensor_dtype_to_np_dtype(element).name
    except KeyError:
        raise Unsupported(noted(ConversionCode.NO_TENSORS_OF_ONNX, type=TensorProto.DataType.Name(element))) from None
    return torch_dtype(name)


def from_numpy(array: Array) -> torch.Tensor:
    """A copy with the same bits. Four-bit and two-bit integers are widened to eight bits."""
    # torch takes numpy's strides of 0 from an array of no elements, and torch.export.save overflows with them (torch 2.13).
    tensor = _copied(array)
    return tensor if array.size else torch.empty(tensor.shape, dtype=tensor.dtype)


def _copied(array: Array) -> torch.Tensor:
    name = array.dtype.name
    if name in NARROW:
        return torch.from_numpy(array.astype(NARROW[name]))
    dtype = torch_dtype(name if array.dtype.kind not in "OUST" else "text")
    if name in _CARRIERS:
        return torch.from_numpy(array.view(_CARRIERS[name]).copy()).view(dtype)
    return torch.from_numpy(np.array(array))


def to_numpy(tensor: torch.Tensor) -> Array:
    """A copy with the same bits; bfloat16 and float8 as types of ml_dtypes."""
    tensor = tensor.detach().cpu().contiguous()
    name = name_of(tensor.dtype)
    if name in _CARRIERS:
        carrier = torch.int16 if name == "bfloat16" else torch.uint8
        bits: Array = tensor.view(carrier).numpy().copy()
        return bits.view(getattr(ml_dtypes, name))
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    array: Array = tensor.numpy().copy()
    return array

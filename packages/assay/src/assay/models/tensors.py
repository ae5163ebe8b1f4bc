"""Named arrays in a safetensors file, every dtype exactly: what numpy's loader lacks goes as raw bytes with our note.

Our note is one metadata entry, `assay`: JSON of name to dtype and shape. One entry only, because the library writes
several in random order and equal content must give equal bytes.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any

import ml_dtypes
import msgspec
import numpy as np

from assay.core.dtype import dtype_name, numpy_dtype
from assay.core.note import noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.errors import BadGolden
from assay.models.files import is_lfs_pointer

Array = np.ndarray[Any, Any]

NATIVE = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "C64": "complex64", "BOOL": "bool",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
    "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
}  # fmt: skip
RAW = {
    *("complex128", "string"),
    *(name for name, kind in vars(ml_dtypes).items() if isinstance(kind, type) and issubclass(kind, np.generic)),
} - {"bfloat16"}
NOTE = "assay"


class Stored(msgspec.Struct, frozen=True):
    """What a tensor is, whatever it is stored as."""

    dtype: str
    shape: tuple[int, ...]


class TensorFile:
    """A safetensors file, opened: the header is read at once, each tensor when asked for. A context manager.

    Raises `BadGolden` with one sentence where the file is missing, a Git LFS pointer, truncated or contradicts itself.
    """

    def __init__(self, path: Path) -> None:
        from safetensors import SafetensorError, safe_open

        self.path = path
        try:
            self._file: Any = safe_open(str(path), framework="numpy")
            self.tensors = self._read_header()
        except OSError as error:
            raise BadGolden(
                noted(GoldenCode.GOLDEN_TENSORS_NOT_READ, file=str(path), error=error.strerror or str(error))
            ) from None
        except (SafetensorError, msgspec.DecodeError):
            if is_lfs_pointer(path):
                raise BadGolden(noted(GoldenCode.GOLDEN_LFS_POINTER, file=str(path))) from None
            raise self._corrupt() from None

    def __enter__(self) -> TensorFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.__exit__(kind, error, trace)

    def read(self, name: str) -> Array:
        """The tensor of that name, as it was written: a copy in memory. Strings come as arrays of objects."""
        tensor: Array = self._file.get_tensor(name)
        return from_raw(tensor, self.tensors[name]) if name in self._raw else tensor

    def _read_header(self) -> dict[str, Stored]:
        """Name to what it is; the raw ones in `_raw`, their size compared with what type and shape need."""
        note = (self._file.metadata() or {}).get(NOTE, "{}")
        self._raw = msgspec.json.decode(note, type=dict[str, Stored])
        stored_tensors: dict[str, Stored] = {}
        for name in self._file.keys():  # noqa: SIM118 - not a mapping
            view = self._file.get_slice(name)
            kind, shape = view.get_dtype(), tuple(view.get_shape())
            if name not in self._raw:
                if kind not in NATIVE:
                    raise BadGolden(noted(GoldenCode.GOLDEN_TENSOR_KIND, file=str(self.path), tensor=name, kind=kind))
                stored_tensors[name] = Stored(NATIVE[kind], shape)
                continue
            stored = self._raw[name]
            fixed = stored.dtype != "string"
            if (
                kind != "U8"
                or stored.dtype not in RAW
                or min(stored.shape, default=0) < 0
                or (fixed and prod(shape) != prod(stored.shape) * numpy_dtype(stored.dtype).itemsize)
            ):
                raise self._corrupt()
            stored_tensors[name] = stored
        if not self._raw.keys() <= stored_tensors.keys():
            raise self._corrupt()
        return dict(sorted(stored_tensors.items()))

    def _corrupt(self) -> BadGolden:
        return BadGolden(noted(GoldenCode.GOLDEN_TENSORS_DAMAGED, file=str(self.path)))


def read_tensors(path: Path) -> dict[str, Array]:
    """All tensors of a file, by name in the order of names. Raises `BadGolden` like `TensorFile`."""
    with TensorFile(path) as file:
        return {name: file.read(name) for name in file.tensors}


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """Write named arrays; equal names and contents give equal bytes. Raises OSError, and BadGolden for an array
    whose dtype is none of ours (structures, dates, objects that are no text)."""
    from safetensors import SafetensorError, TensorSpec, serialize_file

    note: dict[str, Stored] = {}
    keep: list[Array] = []  # the serializer takes addresses: the arrays must outlive it
    specs = {}
    for name, array in sorted(tensors.items()):
        dtype = dtype_name(array.dtype)
        if dtype in RAW:
            note[name] = Stored(dtype, array.shape)
            plain = _to_raw(array)
        elif dtype in NATIVE.values():
            plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        else:
            raise BadGolden(noted(GoldenCode.GOLDEN_DTYPE, tensor=name, dtype=dtype))
        keep.append(plain)
        specs[name] = TensorSpec(
            dtype=plain.dtype.name, shape=plain.shape, data_ptr=plain.ctypes.data, data_len=plain.nbytes
        )
    metadata = {NOTE: msgspec.json.encode(note, order="sorted").decode()} if note else None
    try:
        serialize_file(specs, str(path), metadata=metadata)
    except SafetensorError as error:  # it wraps the system's error and drops its number
        raise OSError(errno.EIO, str(error)) from error
    path.chmod(0o644)  # safetensors writes 0600; goldens are shared


def _to_raw(array: Array) -> Array:
    if dtype_name(array.dtype) == "string":
        elements = array.astype(object).ravel().tolist()
        if not all(isinstance(element, str | bytes) for element in elements):
            raise BadGolden(noted(GoldenCode.GOLDEN_OBJECTS))
        return np.frombuffer(msgspec.msgpack.encode(elements), dtype=np.uint8)
    return np.asarray(array, order="C").reshape(-1).view(np.uint8)


def from_raw(raw: Array, stored: Stored) -> Array:
    """What was written as bytes. Raises BadGolden."""
    if stored.dtype != "string":
        return raw.view(numpy_dtype(stored.dtype)).reshape(stored.shape)
    try:
        elements = msgspec.msgpack.decode(raw.tobytes())
    except msgspec.DecodeError:
        elements = None
    fit = isinstance(elements, list) and all(isinstance(element, str | bytes) for element in elements)
    if not fit or len(elements) != prod(stored.shape):
        raise BadGolden(noted(GoldenCode.GOLDEN_TEXTS))
    array = np.empty(len(elements), dtype=object)
    array[:] = elements
    return array.reshape(stored.shape)

"""Weights that lie outside the model file: where they may lie, and which files they are.

`onnxruntime` 1.31 loads an outside file through a hard link and `onnx` itself had several escapes (CVE-2022-25882,
CVE-2024-27318, CVE-2026-34446), so that every location is checked here before any library follows it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from assay.errors import BadModel
from assay.models.files import is_lfs_pointer

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

_NUMBER = re.compile(r"-?[0-9]{1,19}")
"""As every reader of ONNX takes it; Python alone reads other digits, spaces and underscores."""
_KEEP = "keep external data in a regular file beside the model, and export or copy both again"
_PACKED_BITS = {
    "int4": 4,
    "uint4": 4,
    "float4_e2m1fn": 4,
    "int2": 2,
    "uint2": 2,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
}


def external_files(model: ModelProto, path: Path) -> dict[str, Path]:
    """The files that hold external data, by location, in the order of their names.

    Every one lies inside the model's folder, reached through no symlink, is a regular file with one link, and is long
    enough for each tensor in it. Raises `BadModel` with one sentence for the first that is not so.
    """
    files: dict[str, Path] = {}
    for tensor, entries, location, where in _external(model, path):
        if location not in files:
            files[location] = _checked(path.parent, location, where)
        _check_extent(tensor, entries, files[location].stat().st_size, where)
    return dict(sorted(files.items()))


def external_problems(model: ModelProto, path: Path) -> list[str]:
    """What `external_files` would raise, for every location that is wrong: one sentence each, all of them."""
    told: dict[str, str] = {}
    for tensor, entries, location, where in _external(model, path):
        try:
            _check_extent(tensor, entries, _checked(path.parent, location, where).stat().st_size, where)
        except BadModel as error:
            told.setdefault(location, str(error))
    return [told[location] for location in sorted(told)]


def _external(model: ModelProto, path: Path) -> Iterator[tuple[TensorProto, dict[str, str], str, str]]:
    """Each tensor whose data lie elsewhere, its entries, its location and how a sentence about it begins."""
    from onnx import TensorProto

    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            yield tensor, entries, entries.get("location", ""), f"{path}: external data of tensor {tensor.name!r}"


def _checked(folder: Path, location: str, where: str) -> Path:
    """The file at that location, or `BadModel`."""
    parts = PurePosixPath(location).parts
    if not parts:
        raise BadModel(f"{where} names no file; {_KEEP}")
    if "\0" in location:
        raise BadModel(f"{where} has a zero byte in its location; {_KEEP}")
    if PurePosixPath(location).is_absolute():
        raise BadModel(f"{where} lies at the absolute path {location!r}; {_KEEP}")
    if ".." in parts:
        raise BadModel(f"{where} lies at {location!r}, outside the model's folder; {_KEEP}")
    file = folder / location
    step = folder
    for part in parts:
        step = step / part
        if step.is_symlink():
            raise BadModel(f"{where} lies at {location!r}, which is a symlink or behind one; {_KEEP}")
    try:
        status = file.stat()
    except OSError as error:
        raise BadModel(f"{where} is missing: {location!r} ({error.strerror}); {_KEEP}") from None
    if not os.path.realpath(file).startswith(os.path.join(os.path.realpath(folder), "")):
        raise BadModel(f"{where} lies at {location!r}, outside the model's folder; {_KEEP}")
    if not stat.S_ISREG(status.st_mode):
        raise BadModel(f"{where} lies at {location!r}, which is not a regular file; {_KEEP}")
    if status.st_nlink != 1:
        raise BadModel(f"{where} lies at {location!r}, a hard link that other paths share; {_KEEP}")
    try:
        pointer = is_lfs_pointer(file)
    except OSError as error:
        raise BadModel(f"{where} cannot be read: {location!r} ({error.strerror}); {_KEEP}") from None
    if pointer:
        raise BadModel(f"{where} lies at {location!r}, which is a Git LFS pointer; run git lfs pull")
    return file


def _check_extent(tensor: TensorProto, entries: dict[str, str], size: int, where: str) -> None:
    """Offset and length lie inside the file and hold what type and shape need."""
    location = entries["location"]
    told = entries.get("offset", "0"), entries.get("length", "-1")
    if not all(_NUMBER.fullmatch(one) for one in told):
        raise BadModel(f"{where} has an offset or length that is no number; export the model again")
    offset, length = map(int, told)
    if offset < 0 or length < -1:
        raise BadModel(f"{where} has a negative offset or length; export the model again")
    if min(tensor.dims, default=0) < 0:
        raise BadModel(f"{where} has a negative length in its shape; export the model again")
    needed = _needed_bytes(tensor)
    if length not in (-1, needed):
        raise BadModel(
            f"{where} is said to have {length} bytes, but its type and shape need {needed}; export the model again"
        )
    if offset + needed > size:
        raise BadModel(
            f"{where} is truncated: {location!r} has {size} bytes, {offset + needed} are needed; "
            "copy or export the file again"
        )


def _needed_bytes(tensor: TensorProto) -> int:
    from onnx.helper import tensor_dtype_to_np_dtype

    try:
        dtype = tensor_dtype_to_np_dtype(tensor.data_type)
    except KeyError:
        return 0  # the checker names the unknown type
    bits = _PACKED_BITS.get(dtype.name, 8 * dtype.itemsize)
    return int((prod(tensor.dims) * bits + 7) // 8)


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    yield from _graph_tensors(model.graph)
    for function in model.functions:
        yield from _node_tensors(function.node)
    for training in model.training_info:
        yield from _graph_tensors(training.initialization)
        yield from _graph_tensors(training.algorithm)


def _graph_tensors(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _node_tensors(graph.node)


def _node_tensors(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            yield from _attribute_tensors(attribute)


def _attribute_tensors(attribute: AttributeProto) -> Iterator[TensorProto]:
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    for sparse in (
        *([attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []),
        *attribute.sparse_tensors,
    ):
        yield from (sparse.values, sparse.indices)
    if attribute.HasField("g"):
        yield from _graph_tensors(attribute.g)
    for graph in attribute.graphs:
        yield from _graph_tensors(graph)

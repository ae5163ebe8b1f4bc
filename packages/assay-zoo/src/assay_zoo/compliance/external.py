"""External data: where it may lie, how long it must be, and that two tensors do not share half of their bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import BadModel
from assay.models.external_data import external_files
from assay_zoo.compliance.element import bits_of
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.tensors import tensors_of
from assay_zoo.compliance.walk import Scope

if TYPE_CHECKING:
    from onnx import TensorProto


def check_external(everything: Sequence[Scope], path: Path) -> Iterator[Finding]:
    """Every tensor whose data lie outside the model file, each by itself, then all of one file together."""
    from onnx import GraphProto, ModelProto
    from onnx import TensorProto as Definition

    places: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for tensor, what, _, _ in tensors_of(everything):
        if tensor.data_location != Definition.EXTERNAL:
            continue
        if any(size < 0 for size in tensor.dims):
            continue  # told already
        try:
            external_files(ModelProto(graph=GraphProto(initializer=[tensor])), path)
        except (BadModel, OverflowError) as error:
            sentence = str(error).removeprefix(f"{path}: ").replace(str(path.parent), ".")
            yield Finding(Area.MODEL, "external-data", sentence[:600])
            continue
        start, length = _extent(tensor)
        location = next(entry.value for entry in tensor.external_data if entry.key == "location")
        if (path.parent / location).resolve() == path.resolve():
            told = f"{what} lies in the model file itself; keep external data in a file of their own"
            yield Finding(Area.MODEL, "external-data", told)
        elif length:
            places[location].append((start, start + length, what))
    for location, extents in places.items():
        yield from _overlaps(location, sorted(extents))


def _overlaps(location: str, extents: Sequence[tuple[int, int, str]]) -> Iterator[Finding]:
    """The same bytes for two tensors are shared weights; half of them are a broken file."""
    reach, before = (0, 0), ""
    for start, end, what in extents:
        if start < reach[1] and (start, end) != reach:
            told = f"{what} and {before} overlap in {shown(location)} (from byte {start}); export the model again"
            yield Finding(Area.MODEL, "external-overlap", told)
        if end >= reach[1]:
            reach, before = (start, end), what


def _extent(tensor: TensorProto) -> tuple[int, int]:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    return int(entries.get("offset", "0")), (prod(tensor.dims) * bits_of(tensor.data_type) + 7) // 8

"""External data: where it may lie, how long it must be, and whether two tensors share half of their bytes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import MODEL, ModelPart
from assay.models.examination.external_place import ExternalPlace, external_place
from assay.models.examination.quoting import shown
from assay.models.examination.stored_tensors import tensors_of
from assay.models.examination.walk import Scope
from assay.models.files import file_digest


def check_external(everything: Sequence[Scope], path: Path) -> Iterator[ModelFinding]:
    """Every tensor whose data lie outside the model file, each by itself, then all of one file together. A file is read where a
    tensor states its checksum."""
    from onnx import TensorProto

    places: dict[str, list[tuple[int, int, ModelPart]]] = defaultdict(list)
    digests: dict[Path, str] = {}
    for owned in tensors_of(everything):
        if owned.tensor.data_location != TensorProto.EXTERNAL or any(size < 0 for size in owned.tensor.dims):
            continue
        place = external_place(owned.tensor, path)
        if place.code:
            yield ModelFinding(Area.MODEL, place.code, owned.what, place.values)
            continue
        yield from _checksum(place, owned.what, digests)
        if place.length:
            places[place.location].append((place.offset, place.offset + place.length, owned.what))
    for location, extents in places.items():
        yield from _overlaps(location, sorted(extents, key=lambda extent: extent[:2]))  # parts of a model have no order


def _checksum(place: ExternalPlace, what: ModelPart, digests: dict[Path, str]) -> Iterator[ModelFinding]:
    """The SHA-1 of the whole file (onnx.proto, `external_data`)."""
    if not place.checksum:
        return
    if place.file not in digests:
        digests[place.file] = file_digest(place.file, partial(hashlib.sha1, usedforsecurity=False))
    if digests[place.file] != place.checksum.lower():
        values = (shown(place.location), shown(place.checksum), digests[place.file])
        yield ModelFinding(Area.MODEL, "external-checksum", what, values)


def _overlaps(location: str, extents: Sequence[tuple[int, int, ModelPart]]) -> Iterator[ModelFinding]:
    """The same bytes for two tensors are shared weights; half of them are mostly a broken file, and every
    reader reads it."""
    reach, before = (0, 0), MODEL
    for start, end, what in extents:
        if start < reach[1] and (start, end) != reach:
            values = (before, shown(location), start)
            yield ModelFinding(Area.MODEL, "external-overlap", what, values, Severity.RESTRICTED)
        if end >= reach[1]:
            reach, before = (start, end), what

"""What a graph was made of, written into it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from assay.models.checkpoints.folder_config import CONFIG, INDEX
from assay.models.files import file_digest, user_cache

if TYPE_CHECKING:
    from onnx import ModelProto

_PLACE, _KIND, _DIGEST = "assay.checkpoint", "assay.checkpoint.kind", "assay.checkpoint.digest"
_GENERATION = "generation_config.json"
_METADATA_PROPS, _VARINT, _LENGTH = 14, 0, 2
_MOST_BYTES = 2**16
"""Of one entry."""


@dataclass(frozen=True)
class Origin:
    """`digest` is that of the checkpoint when the graph was written."""

    place: Path
    digest: str


def graphs() -> Path:
    """Where those lie that were written here."""
    return user_cache() / "sources"


def checkpoint_digest(source: Path) -> str:
    """Of a GGUF file, or of what is read of a folder. Raises OSError."""
    if source.is_file():
        return file_digest(source)
    files = sorted((source / CONFIG, source / INDEX, source / _GENERATION, *source.glob("*.safetensors")))
    named_digests = [(file.name, file_digest(file)) for file in files if file.is_file()]
    return hashlib.sha256(repr(named_digests).encode()).hexdigest()


def write_provenance(proto: ModelProto, place: Path, kind: str, digest: str) -> None:
    """`kind` is "folder" or "gguf". The digest makes graphs of other weights other graphs, also where they are equal as numbers."""
    for key, value in ((_PLACE, str(place.resolve())), (_KIND, kind), (_DIGEST, digest)):
        proto.metadata_props.add(key=key, value=value)


def checkpoint_of(model: Path, kind: str) -> Origin | None:
    """The checkpoint of that kind that this ONNX file was made of. Only a file among `graphs` is believed: another one is whoever's, and
    could name any folder."""
    if model.suffix != ".onnx" or not model.resolve().is_relative_to(graphs().resolve()):
        return None
    try:
        metadata = dict(_metadata(model))
    except (OSError, ValueError, EOFError):
        return None
    return (
        Origin(Path(metadata[_PLACE]), metadata.get(_DIGEST, ""))
        if metadata.get(_KIND) == kind and _PLACE in metadata
        else None
    )


def _metadata(model: Path) -> Iterator[tuple[str, str]]:
    """Of the file's outermost message these fields alone: weights are passed over. Raises ValueError.

    https://protobuf.dev/programming-guides/encoding/"""
    from onnx import StringStringEntryProto

    size = model.stat().st_size
    with model.open("rb") as file:
        while file.tell() < size:
            number, wire = divmod(_varint(file), 8)
            if wire == _VARINT:
                _varint(file)
                continue
            count = _varint(file) if wire == _LENGTH else {1: 8, 5: 4}.get(wire, size)
            if count > size - file.tell():
                raise EOFError
            if number == _METADATA_PROPS and wire == _LENGTH and count <= _MOST_BYTES:
                entry = StringStringEntryProto.FromString(file.read(count))
                yield entry.key, entry.value
            else:
                file.seek(count, 1)


def _varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        (byte,) = file.read(1) or b"\0"
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    raise EOFError

"""What a graph was made of, written into it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

_PLACE, _KIND, _DIGEST = "assay.checkpoint", "assay.checkpoint.kind", "assay.checkpoint.digest"


def write_provenance(proto: ModelProto, place: Path, kind: str, digest: str) -> None:
    """`kind` is "folder" or "gguf". The digest makes graphs of other weights other graphs, also where they are equal as numbers."""
    for key, value in ((_PLACE, str(place.resolve())), (_KIND, kind), (_DIGEST, digest)):
        proto.metadata_props.add(key=key, value=value)


def checkpoint_of(model: Path, kind: str) -> str:
    """Where the checkpoint of that kind lies that this ONNX file was made of; "" where there is none."""
    import onnx

    if model.suffix != ".onnx":
        return ""
    said = {one.key: one.value for one in onnx.load(model, load_external_data=False).metadata_props}
    return said.get(_PLACE, "") if said.get(_KIND) == kind else ""

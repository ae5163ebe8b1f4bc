"""From bytes to a model, or one sentence why not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import BadModel
from assay.models.files import check_model_file
from assay.models.onnx_file import why_unparsed
from assay_zoo.compliance.finding import Area, Finding

if TYPE_CHECKING:
    from onnx import ModelProto

_LARGEST = 2**31 - 1


def parse(path: Path) -> tuple[ModelProto | None, list[Finding]]:
    """The model without its external data; None where there is none to look at."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    try:
        check_model_file(path)
    except BadModel as error:
        return None, [_found(str(error).replace(f"{path.parent}/", ""))]
    size = path.stat().st_size
    if size > _LARGEST:
        return None, [_found(f"{path.name} has {size} bytes, more than the 2 GiB of an ONNX file; use external data")]
    try:
        model: ModelProto = ModelProto.FromString(path.read_bytes())
    except DecodeError as error:
        return None, [_found(f"{path.name} {why_unparsed(error)} ({size} bytes); export the model again")]
    if not model.HasField("graph"):
        return None, [_found(f"{path.name} has no graph ({size} bytes); export the model again")]
    return model, []


def _found(sentence: str) -> Finding:
    return Finding(Area.MODEL, "unreadable", sentence)

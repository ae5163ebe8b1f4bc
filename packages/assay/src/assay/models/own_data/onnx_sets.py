"""`test_data_set_N`: tensors, sequences and optionals as the standard's own tests store them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.core.model import Model, TensorSpec
from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden
from assay.models.own_data.raw import Raw, numbered


def sets_of(folder: Path) -> list[Path]:
    """The data sets of a folder, or the folder itself where it is one; empty where neither."""
    if any(folder.glob("input_*.pb")) or any(folder.glob("output_*.pb")):
        return [folder]
    return sorted((path for path in folder.glob("test_data_set_*") if path.is_dir()), key=numbered)


def read_set(folder: Path, model: Model) -> Raw:
    """Inputs, and outputs where there are any. Raises BadGolden."""
    inputs = _side(folder, "input", model.inputs)
    if not any(folder.glob("output_*.pb")):
        return Raw(str(folder), inputs, splits=False)
    return Raw(str(folder), inputs, _side(folder, "output", model.outputs), splits=False)


def _side(folder: Path, role: str, specs: Sequence[TensorSpec]) -> dict[str, Any]:
    """By the name that a file gives its tensor, else by its number."""
    files = sorted(folder.glob(f"{role}_*.pb"), key=numbered)
    if len(files) > len(specs):
        raise BadGolden(
            noted(DataCode.SET_TOO_LARGE, folder=str(folder), files=len(files), role=role, tensors=len(specs))
        )
    names = [spec.name for spec in specs]
    values: dict[str, Any] = {}
    for file in files:
        digits = file.stem.rpartition("_")[2]
        place = int(digits) if digits.isdecimal() else len(specs)
        if place >= len(specs):
            raise BadGolden(noted(DataCode.SET_NUMBER, file=str(file), role=role, tensors=len(specs)))
        value, own = _value(file, specs[place].dtype)
        values[own if own in names and own not in values else names[place]] = value
    return values


def _value(file: Path, kind: str) -> tuple[Any, str]:
    """The value of one file, by the type that the model declares: the file does not say what it holds."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper

    try:
        data = file.read_bytes()
        if kind == "sequence":
            sequence = onnx.SequenceProto.FromString(data)
            return numpy_helper.to_list(sequence), sequence.name
        if kind == "optional":
            optional = onnx.OptionalProto.FromString(data)
            return numpy_helper.to_optional(optional), optional.name
        if kind == "map":
            mapping = onnx.MapProto.FromString(data)
            return numpy_helper.to_dict(mapping), mapping.name
        tensor = onnx.TensorProto.FromString(data)
        return numpy_helper.to_array(tensor), tensor.name
    except (DecodeError, ValueError, TypeError, OSError) as error:
        text = " ".join(str(error).split())
        raise BadGolden(noted(DataCode.SET_DAMAGED, file=str(file), kind=kind, error=text)) from None

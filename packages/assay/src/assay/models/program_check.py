"""What must hold before torch.export.load is let at a `.pt2` file: the file may not bring code of its own.

The loader (torch 2.13) unpickles tensors and example inputs without restriction where a flag in the file says so or a
safe read fails, loads shared libraries of ahead-of-time packages, resolves the target of a node anywhere below the
module `torch` (`torch.os` included), gives texts to sympy.sympify, which evaluates them, and writes others into source.
Which entries there may be is the matter of `program_archive`, what they may say that of `program_texts`.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import InvalidModel
from assay.models.program_archive import check_archive, check_inner_size
from assay.models.program_source_check import check_sources

_LARGEST_JSON = 512 * 2**20


def check_program(path: Path) -> None:
    """Raises InvalidModel for a file that is no archive of torch.export, or one that would have to be trusted."""
    if not zipfile.is_zipfile(path):
        raise InvalidModel(noted(ModelCode.PROGRAM_NO_ARCHIVE, file=path.name))
    try:
        with zipfile.ZipFile(path) as archive:
            _check(path, archive)
    except (AttributeError, KeyError, TypeError) as error:  # of JSON that is no object where torch writes one
        raise InvalidModel(noted(ModelCode.PROGRAM_OF_ANOTHER, file=path.name, error=str(error))) from error
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError, NotImplementedError) as error:
        raise InvalidModel(noted(ModelCode.PROGRAM_DAMAGED, file=path.name, error=str(error))) from error


def _check(path: Path, archive: zipfile.ZipFile) -> None:
    inner = check_archive(path, archive)
    for name, rest in inner.items():
        if rest.endswith("_config.json"):
            _check_payload(path, _json(path, archive, name))
        if rest.startswith("data/sample_inputs/"):
            _check_samples(path, archive.read(name))
        if rest.startswith("models/"):
            check_sources(path.name, _json(path, archive, name))


def _json(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    if archive.getinfo(name).file_size > _LARGEST_JSON:
        raise InvalidModel(
            noted(ModelCode.PROGRAM_JSON_TOO_LARGE, file=path.name, entry=name, most_mib=_LARGEST_JSON >> 20)
        )
    return json.loads(archive.read(name))


def _check_payload(path: Path, config: Any) -> None:
    for name, entry in config["config"].items() if isinstance(config, dict) else ():
        file = str(entry.get("path_name", ""))
        if entry.get("use_pickle") or not file.startswith(("weight_", "tensor_")):
            raise InvalidModel(noted(ModelCode.PROGRAM_TENSOR_PICKLED, file=path.name, entry=name))


def _check_samples(path: Path, data: bytes) -> None:
    """torch.export.load falls back to an unrestricted pickle where this read fails."""
    import torch

    if not data:
        return
    check_inner_size(path.name, data)
    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except Exception as error:
        raise InvalidModel(noted(ModelCode.PROGRAM_EXAMPLES, file=path.name)) from error

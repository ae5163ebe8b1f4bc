"""Independent answers for flows that quantize: of the quantized model, since how far that lies from the float model is a loss that the
flow chose and not an error of its engine. The flow's transforms are applied again, and what they give is evaluated by other libraries."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from independent import Feed, independent

from assay.core.job import VerifyJob
from assay.models.files import file_digest
from assay.worker.engine.apply_transforms import apply_transforms
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.stages import Stages


def quantized(job: dict[str, Any], result: dict[str, Any], model: Path, folder: Path) -> TransformedModel | None:
    """None where the flow does not quantize, or where the transforms give another file than they gave the engine."""
    if not job["flow"].get("transforms") or not result:
        return None
    asked = msgspec.structs.replace(msgspec.convert(job, VerifyJob), scratch=str(folder))
    with contextlib.chdir(folder):
        made = apply_transforms(asked, model, Stages(lambda stage: None))
    if made.standard is None:
        return None
    given = result["facts"]["transforms"]
    if given and given[-1]["digest"] not in (file_digest(made.standard), made.applied[-1].digest):
        print(f"  {job['flow']['name']}: its transforms give another file each time", file=sys.stderr)
        return None
    return made


def witnesses(made: TransformedModel, feeds: Sequence[Feed]) -> dict[str, list[Feed]]:
    """By library: an ONNX file by those of `independent`, a program of torch by torch itself."""
    assert made.standard is not None
    fed = made.fed(feeds)
    if made.standard.suffix == ".onnx":
        return independent(made.standard, fed)
    return {"torch": by_torch(made.standard, fed)}


def by_torch(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import torch

    from assay.models.program import open_program

    program = open_program(path)
    module = program.exported.module()
    answers = []
    with torch.no_grad():
        for feed in feeds:
            args, kwargs = program.arguments(feed)
            given = program.results(module(*args, **kwargs))
            answers.append({name: tensor.numpy() for name, tensor in given.items()})
    return answers

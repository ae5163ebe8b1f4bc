"""A job of screening on the backend that misbehaves as told, and one that reads exported programs."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.flow import Flow, Option
from assay.core.job import ScreenJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.fuzz.screening import KEPT, KEPT_VERSION
from assay.generators.files import keep_case
from assay.generators.used_engines import UsedEngines
from assay.models.program import open_program
from assay.ports.generator import GeneratedCase
from assay.testing.faulty_backend import Faulty, FaultyEngine

CASES = 30


def screening_job(folder: Path, **options: Option) -> ScreenJob:
    flow = Flow(name="faulty", backend="faulty", options=options)
    return ScreenJob(
        case=Case("fuzz", Model(name="fuzz", source="", digest="")),
        flow=flow,
        limits=Limits(timeout_s=60),
        scratch=str(folder),
        generator=UsedEngines.name,
        version=UsedEngines.version,
        seed=4,  # of 3 a ConvTranspose of halves with an output_shape is not computed by onnx.reference
        first=0,
        count=CASES,
        seconds=600.0,
        corpus=str(folder / "suspects"),
        progress=str(folder / "progress"),
    )


class OfPrograms(Faulty):
    """It reads exported programs alone."""

    accepts = "torch"

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        open_program(model)
        return super().lower(model.with_suffix(".onnx"), flow)


def job_of(case: GeneratedCase, folder: Path) -> ScreenJob:
    """One case, kept in that folder."""
    keep_case(case, folder, "case")
    return replace(screening_job(folder), generator=KEPT, version=KEPT_VERSION, kept=(str(folder / "case"),))

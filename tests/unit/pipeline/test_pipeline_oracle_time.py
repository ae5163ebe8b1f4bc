"""A model that no oracle comes to the end of costs its time limit once, whoever else is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.pipeline.adapters import Services
from assay.pipeline.ensure_references import ORACLES, _compute


def _limits_s(outcome: Outcome, folder: Path) -> list[float]:
    asked: list[float] = []

    async def run(job: Job) -> Result:
        asked.append(job.limits.timeout_s)
        return replace(empty_result(job, outcome), flow=job.subject, detail="no answer")

    house = cast(Services, SimpleNamespace(jobs=SimpleNamespace(run=run), evaluated_s={}))
    model = Model("m", "m.onnx", "", format="onnx")
    job = VerifyJob(
        Case("m", model), Flow("plain", "faulty"), limits=Limits(timeout_s=60.0), reference_dir=str(folder / "none")
    )
    assert asyncio.run(_compute(job, [], house))
    return asked


def test_after_a_timeout_two_other_libraries_have_a_tenth_of_the_limit(tmp_path: Path) -> None:
    assert _limits_s(Outcome.TIMEOUT, tmp_path) == [60.0, 6.0, 6.0]


def test_after_a_refusal_they_have_all_of_it(tmp_path: Path) -> None:
    assert _limits_s(Outcome.UNSUPPORTED, tmp_path) == [60.0] * len(ORACLES["onnx"])

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
from assay.judge.words.advice import advice
from assay.pipeline.adapters import Services
from assay.pipeline.references.ensure_references import ORACLES, _compute, _without, without_reference


def _limits_s(outcome: Outcome, folder: Path) -> list[float]:
    return [job.limits.timeout_s for job in _asked(outcome, folder)]


def _asked(outcome: Outcome, folder: Path, first: Outcome | None = None, form: str = "onnx") -> list[Job]:
    """`first` is how the first one ends, if otherwise than the others."""
    asked: list[Job] = []

    async def run(job: Job) -> Result:
        asked.append(job)
        ended = first if first is not None and len(asked) == 1 else outcome
        return replace(empty_result(job, ended), flow=job.subject, detail="no answer")

    house = cast(Services, SimpleNamespace(jobs=SimpleNamespace(run=run), evaluated_s={}))
    model = Model("m", "m.onnx", "", format=form)
    job = VerifyJob(
        Case("m", model), Flow("plain", "faulty"), limits=Limits(timeout_s=60.0), reference_dir=str(folder / "none")
    )
    assert asyncio.run(_compute(job, [], house))
    return asked


def test_after_a_timeout_two_other_libraries_have_a_tenth_of_the_limit(tmp_path: Path) -> None:
    assert _limits_s(Outcome.TIMEOUT, tmp_path) == [60.0, 6.0, 6.0]


def test_after_a_refusal_they_have_all_of_it(tmp_path: Path) -> None:
    assert _limits_s(Outcome.UNSUPPORTED, tmp_path) == [60.0] * len(ORACLES["onnx"])


def test_what_runs_out_of_memory_in_double_and_in_a_runtime_is_asked_of_nobody_else(tmp_path: Path) -> None:
    assert [job.subject for job in _asked(Outcome.OUT_OF_MEMORY, tmp_path)] == ["reference-f64", "onnxruntime-disable"]


def test_the_evaluator_in_its_own_precision_is_asked_last_where_double_needs_too_much(tmp_path: Path) -> None:
    asked = _asked(Outcome.UNSUPPORTED, tmp_path, first=Outcome.OUT_OF_MEMORY)
    assert [job.subject for job in asked] == [*ORACLES["onnx"][:1], *ORACLES["onnx"][2:], "reference"]


def test_a_program_that_needs_too_much_in_double_is_asked_in_its_own_precision(tmp_path: Path) -> None:
    asked = _asked(Outcome.UNSUPPORTED, tmp_path, first=Outcome.OUT_OF_MEMORY, form="torch")
    assert [job.subject for job in asked] == ["torch-eager-f64", "torch-eager"]


def test_no_engine_is_asked_for_an_answer_for_which_memory_is_too_short() -> None:
    job = VerifyJob(Case("m", Model("m", "m.onnx", "")), Flow("plain", "faulty"))
    refusals = [
        replace(empty_result(job, Outcome.OUT_OF_MEMORY), flow=name, detail="it held 9 GB")
        for name in ("reference-f64", "onnxruntime-disable")
    ]
    result = _without(job, refusals)
    assert result.outcome is Outcome.MISTRUSTED
    assert (
        result.detail
        == "'m' needs more memory than there is: reference-f64 and onnxruntime-disable ran out of it (it held 9 GB)"
    )
    assert without_reference([job], [result]) == ([job], [result])
    assert "smaller sizes" in advice(result, None)


def test_a_limit_of_memory_that_is_stated_is_a_demand_on_the_engine_too() -> None:
    job = VerifyJob(Case("m", Model("m", "m.onnx", "")), Flow("plain", "faulty"), limits=Limits(memory_bytes=1 << 30))
    refusals = [
        replace(empty_result(job, Outcome.OUT_OF_MEMORY), flow=name)
        for name in ("reference-f64", "onnxruntime-disable")
    ]
    probes, lacking = without_reference([job], [_without(job, refusals)])
    assert (probes[0].reference_dir, lacking) == ("", [])

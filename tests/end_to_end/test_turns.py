"""Two processes that take turns: what happens to one of them is told by the other at once, and blamed on the right side."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay.commands.compare import compare_request
from assay.commands.composition import open_services
from assay.core.flow import Flow, Option
from assay.core.job import AlternateJob, CompareSpeedJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.note import NoteCode
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.speed import BaselineEngine, SpeedComparison, SpeedRule
from assay.models.files import folder_digest
from assay.options.compare import CompareOptions
from assay.pipeline.adapters import Services
from assay.pipeline.compare import plan_comparison
from assay.pipeline.job_graph import JobGraph
from assay.pipeline.references.ensure_references import ensure_references
from assay.pipeline.two_process_comparison import compare_in_two_processes
from assay.testing.faulty_backend import Faulty
from assay.worker.stages import Stages
from assay.worker.timing.compare_speed import compare_speed
from assay.worker.timing.interleaved_timing import time_interleaved
from small_models import linear_model

PLAIN: dict[str, Option] = {"model": "identity", "work_s": 0.002}


def _job(options: CompareOptions, services: Services) -> CompareSpeedJob:
    (job,) = services.jobs.complete(plan_comparison(compare_request(options), services)).jobs
    assert isinstance(job, CompareSpeedJob)
    assert services.jobs.complete(ensure_references([job], services)) == []
    return replace(job, rule=SpeedRule(looks=(4,)))


def _compared(job: CompareSpeedJob, services: Services) -> Result:
    return services.jobs.complete(compare_in_two_processes(job, services))


def _against(fault: str, tmp_path: Path, after: int = 5) -> tuple[Result, float]:
    """A sound engine against one that was built well, and fails after so many calls."""
    model = linear_model(tmp_path / "m.onnx")
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    Faulty().lower(model, Flow("plain", "faulty", PLAIN)).save(artifact)
    with open_services(str(tmp_path / "h")) as services:
        job = _job(CompareOptions(models=(model,), flows=("onnxruntime", "faulty")), services)
        bad = Flow("bad", "faulty", {**PLAIN, "fault": fault, "after": after})
        own = replace(job.flow, options=PLAIN)
        rival = BaselineEngine("bad", bad, job.case.model, str(artifact))
        begin = time.monotonic()
        result = services.jobs.complete(compare_in_two_processes(replace(job, flow=own, baseline=rival), services))
    return result, time.monotonic() - begin


@pytest.mark.parametrize("again", range(2))
def test_a_side_that_raises_in_its_turn_is_the_one_that_is_named(tmp_path: Path, again: int) -> None:
    result, _ = _against("raise", tmp_path)
    assert result.outcome is Outcome.ERROR
    assert "bad: RuntimeError" in result.detail
    assert "asked to raise" in result.detail


def test_a_side_that_dies_in_its_turn_keeps_nobody_waiting(tmp_path: Path) -> None:
    result, seconds = _against("segfault", tmp_path)
    assert (result.outcome, result.signal) == (Outcome.CRASH, "SIGSEGV")
    assert result.detail.startswith("bad: ")
    assert seconds < Limits().timeout_s / 2, "it waited for a turn that never came"


def test_engines_whose_inputs_a_transform_has_changed_take_turns(tmp_path: Path) -> None:
    model = linear_model(tmp_path / "m.onnx")
    with open_services(str(tmp_path / "h")) as services:
        job = _job(CompareOptions(models=(model,), flows=("onnxruntime+fp16:io", "onnxruntime+fp16:io")), services)
        result = _compared(job, services)
    assert result.outcome is Outcome.OK, result.detail
    assert result.speeds
    assert len(result.speeds[0].launches) == 4


def _altering(services: Services, letter: str) -> Services:
    """The same, once the engine of the side `letter` has been altered behind everybody's back."""

    class Altering(JobGraph):
        async def together(self, jobs: Sequence[Job]) -> list[Result]:
            for job in jobs:
                if isinstance(job, AlternateJob) and job.case.name.startswith(f"{letter}/"):
                    (Path(job.artifact_dir) / "identity").write_text("y = 2 * x\n")
            return await super().together(jobs)

    return dataclasses.replace(services, jobs=Altering(services.jobs.workers, services.jobs.isolated))


@pytest.mark.parametrize("letter", ["a", "b"])
def test_an_engine_that_is_altered_between_two_launches_is_not_loaded(tmp_path: Path, letter: str) -> None:
    model = linear_model(tmp_path / "m.onnx")
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    Faulty().lower(model, Flow("plain", "faulty", PLAIN)).save(artifact)
    with open_services(str(tmp_path / "h")) as services:
        job = _job(CompareOptions(models=(model,), flows=("onnxruntime", "faulty")), services)
        plain = replace(job.flow, options=PLAIN)
        rival = BaselineEngine("old", plain, job.case.model, str(artifact), folder_digest(artifact)[1])
        job = replace(job, flow=plain, baseline=rival)
        result = _compared(job, _altering(services, letter))
    if letter == "a":
        assert (result.outcome, result.stage) == (Outcome.ERROR, Stage.LOAD)
        assert "the files of the engine are not those that were saved" in result.detail
    else:
        assert result.speeds
        assert result.speeds[0].launches == ()
        assert result.speeds[0].trouble is not None
        assert result.speeds[0].trouble.code == NoteCode.ARTIFACT_CHANGED


def test_an_engine_that_is_altered_while_it_is_timed_has_decided_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both engines in one process, which loads the approved one again for each launch."""
    model = linear_model(tmp_path / "m.onnx")
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    Faulty().lower(model, Flow("plain", "faulty", PLAIN)).save(artifact)
    with open_services(str(tmp_path / "h")) as services:
        job = _job(CompareOptions(models=(model,), flows=("onnxruntime", "faulty")), services)
    plain = replace(job.flow, options=PLAIN)
    rival = BaselineEngine("old", plain, job.case.model, str(artifact), folder_digest(artifact)[1])
    job = replace(job, flow=plain, baseline=rival, scratch=str(tmp_path), rule=SpeedRule(looks=(4,)))

    def altering(*arguments: Any) -> SpeedComparison:
        comparison = time_interleaved(*arguments)
        (artifact / "identity").write_text("y = 2 * x\n")
        return comparison

    monkeypatch.setattr("assay.worker.timing.compare_speed.time_interleaved", altering)
    speed = compare_speed(job, Stages(lambda stage: None)).speeds[0]
    assert speed is not None
    assert speed.launches == ()
    assert speed.trouble is not None
    assert speed.trouble.code == NoteCode.ARTIFACT_CHANGED

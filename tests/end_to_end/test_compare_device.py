"""Engines of a device that tells its own time: a thread of each engine sorts numbers, and times itself."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from assay.commands.compare import compare_request
from assay.commands.composition import open_services
from assay.core.flow import Flow, Option
from assay.core.speed import BaselineEngine, SpeedComparison, SpeedRule
from assay.core.verdict import VerdictStatus
from assay.judge.speed import judge_comparison
from assay.options.compare import CompareOptions
from assay.pipeline.compare import plan_comparison
from assay.pipeline.references.ensure_references import ensure_references
from assay.pipeline.two_process_comparison import compare_in_two_processes
from assay.testing.builders import make_job
from assay.testing.faulty_backend import Faulty
from assay.worker.timing.gpu_clock import calls_of
from assay.worker.timing.interleaved_timing import time_interleaved
from small_models import linear_model
from statistical import three_tries

FEED = {"x": np.ones((2, 3), np.float32)}
SORTS = 5
HOST_S = 0.001


def _flow(**options: Option) -> Flow:
    return Flow("f", "faulty", {"model": "identity", **options})


def _compared(own: Flow, rival: Flow, folder: Path, launches: int = 4) -> SpeedComparison:
    backend = Faulty()
    baseline = BaselineEngine("old", rival, make_job().case.model)
    job = replace(make_job(kind="compare_speed", baseline=baseline, rule=SpeedRule(looks=(launches,))), flow=own)
    return time_interleaved(lambda: backend.load(folder, own), lambda: backend.load(folder, rival), FEED, job)


@three_tries
def test_twice_the_work_of_the_device_is_twice_the_time(tmp_path: Path) -> None:
    """The host works as long in both, and longer than the device: by its CPU time the two are nearly the same."""
    seen = _compared(
        _flow(device_sorts=2 * SORTS, work_s=HOST_S), _flow(device_sorts=SORTS, work_s=HOST_S), tmp_path, launches=4
    )
    assert seen.clock == "device"
    assert sorted(launch.cpu for launch in seen.launches)[2] == pytest.approx(math.log(2), abs=0.25)
    decision = judge_comparison(seen, SpeedRule())
    assert decision.word is VerdictStatus.FAIL
    assert "of the device's time" in decision.text


@three_tries
def test_what_the_host_does_besides_is_no_work_of_the_device(tmp_path: Path) -> None:
    seen = _compared(_flow(device_sorts=SORTS, work_s=HOST_S), _flow(device_sorts=SORTS), tmp_path, launches=3)
    assert seen.clock == "device"
    assert all(abs(launch.cpu) < 0.3 for launch in seen.launches)
    assert seen.own_s < HOST_S < seen.own_wall_s


def test_one_that_does_not_tell_has_both_compared_by_the_callers_time(tmp_path: Path) -> None:
    seen = _compared(_flow(device_sorts=SORTS), _flow(work_s=HOST_S), tmp_path, launches=2)
    assert seen.clock == "caller"
    waiting = _flow(wait_s=HOST_S)
    seen = _compared(replace(waiting, device="cuda"), replace(waiting, device="cuda"), tmp_path, launches=2)
    assert seen.clock == "caller"
    seen = _compared(_flow(work_s=HOST_S), _flow(work_s=HOST_S), tmp_path, launches=2)
    assert seen.clock in ("thread", "caller"), "the caller's where other threads of this process are at work"


def test_inputs_in_another_order_of_memory_are_not_the_devices(tmp_path: Path) -> None:
    engine = Faulty().load(tmp_path, _flow(device_sorts=1))
    assert calls_of([engine], FEED)[1] == "device"
    assert calls_of([engine], {"x": np.ones((3, 2), np.float32).T})[1] == ""


@three_tries
def test_two_processes_agree_on_the_devices_clock(tmp_path: Path) -> None:
    model = linear_model(tmp_path / "m.onnx")
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    Faulty().lower(model, _flow()).save(artifact)
    with open_services(str(tmp_path / "h")) as services:
        request = compare_request(CompareOptions(models=(model,), flows=("faulty", "faulty")))
        (job,) = services.jobs.complete(plan_comparison(request, services)).jobs
        assert services.jobs.complete(ensure_references([job], services)) == []
        rival = BaselineEngine("old", _flow(device_sorts=SORTS, work_s=HOST_S), job.case.model, str(artifact))
        job = replace(job, flow=_flow(device_sorts=SORTS), baseline=rival, rule=SpeedRule(looks=(2,)))
        result = services.jobs.complete(compare_in_two_processes(job, services))
        mixed = services.jobs.complete(compare_in_two_processes(replace(job, flow=_flow(work_s=HOST_S)), services))
    assert result.speeds, result.detail
    assert (result.speeds[0].clock, result.speeds[0].processes) == ("device", 2)
    assert all(abs(launch.cpu) < 0.4 for launch in result.speeds[0].launches)
    assert result.speeds[0].rival_s < HOST_S < result.speeds[0].rival_wall_s
    assert mixed.speeds, mixed.detail
    assert mixed.speeds[0].clock == "caller"

"""What is said of a measurement on a GPU."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from assay.core.gpu import GpuRecord
from assay.core.measurement import Measurement
from assay.core.note import NoteCode, noted
from assay.core.policy import Goal, Policy
from assay.core.result import Result
from assay.core.verdict import VerdictStatus
from assay.judge.named_metrics import metrics, samples_missing
from assay.judge.verdicts import judge
from assay.testing.builders import make_measurement, make_result

CLOCKED = GpuRecord("cuda events", 40, 0, {}, (1500, 1980), (3201, 3201), ("gpu_idle",), 2**30, 0.5)


def _result(gpu: GpuRecord, *, calls: int = 100, device_s: float | None = 3e-4) -> Result:
    taken = make_measurement(1, calls=calls) if calls else Measurement(1, (), ())
    device = (device_s,) * calls if device_s is not None else ()
    return make_result(kind="measure", measurements=(replace(taken, device_s=device, gpu=gpu),))


def _verdict(result: Result, *goals: Goal) -> tuple[VerdictStatus, str]:
    judgement = judge([result], policy=Policy(goals=goals), planned=[result.job_key], today=date(2026, 11, 22))
    own_verdict = next(verdict for verdict in judgement.verdicts if verdict.job_key == result.job_key)
    return own_verdict.word, own_verdict.reason


def test_the_devices_own_time_is_a_figure() -> None:
    named = metrics(_result(CLOCKED))
    assert named["latency.device_median_ms"] == named["latency.batch1.device_median_ms"] == pytest.approx(0.3)
    assert named["gpu.sm_mhz"] == 1500
    assert named["gpu.memory_mhz"] == 3201
    assert named["gpu.memory_bytes"] == 2**30
    assert named["gpu.sm_share"] == 0.5
    assert named["gpu.discarded_share"] == 0.0
    assert samples_missing(_result(CLOCKED, calls=3), "latency.device_median_ms") == (5, 3)


def test_what_was_not_told_is_no_figure() -> None:
    names = {
        name
        for name in metrics(_result(GpuRecord(untold=noted(NoteCode.NVML_SAYS, error="no binding"))))
        if name.startswith("gpu.")
    }
    assert names == set()
    assert {name for name in metrics(_result(GpuRecord(readings=2))) if name.startswith("gpu.")} == {
        "gpu.discarded_share"
    }
    assert not [name for name in metrics(make_result(kind="measure")) if name.startswith(("gpu.", "latency.device"))]


def test_discarded_calls_are_counted_and_can_be_gated() -> None:
    result = _result(replace(CLOCKED, lost=300, discarded={"sw_power_cap": 300, "foreign_process": 20}))
    assert metrics(result)["gpu.discarded_share"] == 0.75
    word, reason = _verdict(result)
    assert word is VerdictStatus.PASS
    assert reason.endswith("; 300 of 400 calls discarded (sw_power_cap 300, foreign_process 20)")
    word, reason = _verdict(result, Goal(metric="gpu.discarded_share", max=0.5))
    assert word is VerdictStatus.FAIL
    assert "gpu.discarded_share" in reason


def test_nothing_is_said_where_no_call_counts() -> None:
    word, reason = _verdict(_result(replace(CLOCKED, lost=90, discarded={"hw_thermal_slowdown": 90}), calls=0))
    assert word is VerdictStatus.INCONCLUSIVE
    assert reason == (
        "none of the 90 calls counts, the GPU was held back or shared in all of them (hw_thermal_slowdown 90): measure on one "
        "that is cool, uncapped and your own"
    )


def test_what_is_not_known_is_told() -> None:
    _, reason = _verdict(_result(GpuRecord(untold=noted(NoteCode.NVML_SAYS, error="pip install it")), device_s=None))
    assert "by the wall clock: this engine does not hand out its stream" in reason
    assert "clocks and other users of the GPU not seen: NVML says: pip install it" in reason

"""How an engine of a CUDA device is sampled. What NVML answers is played by a module with its names; no device is here."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.core.case import Case
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow
from assay.core.gpu import GpuReading
from assay.core.job import MeasureJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.ports import Tensor, Tensors
from assay.worker.timing.gpu_telemetry import open_reader
from assay.worker.timing.gpu_timing import LEAST_CALLS, MonitoredGpu, Timed, monitored_gpu, sample_blocks

NO_BINDING = noted(NoteCode.NVML_NOT_INSTALLED)

FEED = {"x": np.ones((2, 3), np.float32)}


class Plain:
    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        return dict(tensors)

    def save(self, folder: object) -> None: ...

    def facts(self) -> EngineInfo:
        return EngineInfo()


class OnDevice(Plain):
    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        return lambda: 0.25


class Elsewhere(Plain):
    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        return None


def test_the_device_tells_the_time_where_the_engine_lets_it() -> None:
    timed = Timed(OnDevice(), FEED)
    timed()
    assert (timed.seconds, timed.clock) == (0.25, "cuda events")
    turned = {"x": np.ones((3, 2), np.float32).T}
    for engine, feed in ((Plain(), FEED), (Elsewhere(), FEED), (OnDevice(), turned)):
        by_the_wall = Timed(engine, feed)
        by_the_wall()
        assert (by_the_wall.seconds, by_the_wall.clock) == (None, "")


def _job(flow: Flow) -> Job:
    return MeasureJob(Case("c", Model("m", "m.onnx", "0")), flow)


def test_only_what_computes_on_cuda_is_watched() -> None:
    assert monitored_gpu(_job(Flow("a", "b"))) is None
    assert monitored_gpu(_job(Flow("a", "b", device="opencl"))) is None
    assert monitored_gpu(_job(Flow("a", "b", device="cuda:1"))) is not None
    assert monitored_gpu(_job(Flow("a", "torch", options={"device": "cuda"}))) is not None


def _looks(*readings: GpuReading) -> Callable[[], GpuReading]:
    """The last one again and again."""
    left: Iterator[GpuReading] = iter(readings)
    return lambda: next(left, readings[-1])


def test_calls_under_heat_are_not_among_the_samples() -> None:
    quiet, hot = GpuReading(reasons=0), GpuReading(reasons=0x20)
    blocks = sample_blocks(Timed(OnDevice(), FEED), MonitoredGpu(_looks(quiet, hot, quiet), ""), 600.0)
    assert blocks.record.lost > 0
    assert blocks.record.discarded == {"sw_thermal_slowdown": blocks.record.lost}
    assert len(blocks.wall_s) == len(blocks.device_s) > 0
    assert set(blocks.device_s) == {0.25}


def test_a_device_that_never_cools_ends_with_no_sample() -> None:
    blocks = sample_blocks(Timed(OnDevice(), FEED), MonitoredGpu(_looks(GpuReading(reasons=0x40)), ""), 0.1)
    assert (blocks.wall_s, blocks.device_s, blocks.cpu_s) == ((), (), ())
    assert blocks.record.lost >= LEAST_CALLS


def test_whoever_comes_while_calls_are_sampled_is_somebody_else() -> None:
    """Numbers of processes as a container sees them: this one is known only by having come before the first call."""
    alone, shared = GpuReading(processes=(900,)), GpuReading(processes=(77, 900))
    blocks = sample_blocks(
        Timed(OnDevice(), FEED), MonitoredGpu(_looks(alone, shared), "", GpuReading(processes=())), 0.05
    )
    assert blocks.record.foreign == (77,)
    assert blocks.record.discarded == {"foreign_process": blocks.record.lost}
    assert blocks.wall_s == ()


def test_slow_calls_are_taken_five_times() -> None:
    class Slow(Plain):
        def run(self, tensors: Tensors) -> dict[str, Tensor]:
            time.sleep(0.06)
            return dict(tensors)

    blocks = sample_blocks(Timed(Slow(), FEED), MonitoredGpu(_looks(GpuReading()), NO_BINDING), 0.01)
    assert len(blocks.wall_s) == LEAST_CALLS
    assert (blocks.device_s, blocks.record.untold, blocks.record.readings) == ((), NO_BINDING, 0)


class NvmlError(Exception):
    pass


def _nvml(**answers: Any) -> SimpleNamespace:
    """As nvidia-ml-py is: what is not given here the device does not support."""

    def missing(*given: object) -> None:
        raise NvmlError("Not Supported")

    names = (
        "nvmlInit", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetClockInfo",
    )  # fmt: skip
    functions = {name: (lambda *given, value=answers[name]: value) if name in answers else missing for name in names}
    return SimpleNamespace(NVMLError=NvmlError, NVML_CLOCK_SM=1, NVML_CLOCK_MEM=2, **functions)


def test_the_names_are_those_of_the_binding() -> None:
    binding = pytest.importorskip("pynvml")
    for name, value in vars(_nvml()).items():
        assert hasattr(binding, name)
        if name.startswith("NVML_"):
            assert getattr(binding, name) == value


def test_a_device_that_tells_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "nvmlInit": None,
        "nvmlDeviceGetHandleByUUID": "handle",
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=40, memory=3),
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=9, free=4, used=5),
        "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=12), SimpleNamespace(pid=3)],
        "nvmlDeviceGetCurrentClocksEventReasons": 0x40,
        "nvmlDeviceGetClockInfo": 1980,
    }
    monkeypatch.setitem(sys.modules, "pynvml", _nvml(**answers))
    look, untold = open_reader("GPU-0b1c,GPU-7")
    assert (look(), untold) == (GpuReading(1980, 1980, 0x40, 5, 0.4, (3, 12), 0.03), None)
    del answers["nvmlDeviceGetCurrentClocksEventReasons"]
    older = _nvml(**answers, nvmlDeviceGetCurrentClocksThrottleReasons=0x8)
    monkeypatch.setitem(sys.modules, "pynvml", older)
    assert open_reader("GPU-0b1c")[0]().reasons == 0x8


def test_a_slice_of_a_device_tells_little(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(total=9, free=4, used=5)
    given = _nvml(nvmlInit=None, nvmlDeviceGetHandleByUUID="handle", nvmlDeviceGetMemoryInfo=memory)
    monkeypatch.setitem(sys.modules, "pynvml", given)
    look, untold = open_reader("MIG-5")
    assert (look(), untold) == (GpuReading(memory_bytes=5), None)


def test_why_nothing_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", _nvml())
    assert open_reader(None)[1] == noted(NoteCode.NVML_SAYS, error="Not Supported")
    monkeypatch.setitem(sys.modules, "pynvml", None)
    look, untold = open_reader(None)
    assert untold == noted(NoteCode.NVML_NOT_INSTALLED)
    assert look() == GpuReading()

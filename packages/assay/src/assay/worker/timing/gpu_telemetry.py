"""Looks at the GPU of this process by NVML, between two blocks of calls: a look costs about a millisecond, and no kernel runs then."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from assay.core.gpu import GpuReading
from assay.core.note import Note, NoteCode, noted

Reader = Callable[[], GpuReading]


def open_reader(allowed: str | None) -> tuple[Reader, Note | None]:
    """What reads the first of the devices that `CUDA_VISIBLE_DEVICES` leaves, and why nothing can be read (None where it can): then
    every reading is empty."""
    try:
        import pynvml as nvml
    except ImportError:
        return GpuReading, noted(NoteCode.NVML_NOT_INSTALLED)
    try:
        nvml.nvmlInit()
        handle = _handle(nvml, (allowed or "0").split(",")[0].strip())
    except nvml.NVMLError as error:
        return GpuReading, noted(NoteCode.NVML_SAYS, error=str(error))
    return lambda: _read(nvml, handle), None


def visible() -> str | None:
    """As it is in this process: whoever leased the device has set it."""
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def _handle(nvml: Any, name: str) -> Any:
    return nvml.nvmlDeviceGetHandleByIndex(int(name)) if name.isdigit() else nvml.nvmlDeviceGetHandleByUUID(name)


def _read(nvml: Any, handle: Any) -> GpuReading:
    def answer_of(ask: Callable[[], Any]) -> Any:
        """None where the device does not tell (a slice of one has no clocks), or the driver is too old for the question."""
        try:
            return ask()
        except nvml.NVMLError:
            return None

    use = answer_of(lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
    memory = answer_of(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
    processes = answer_of(lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle))
    reasons = answer_of(lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    if reasons is None:  # Before driver 535 the question had another name.
        reasons = answer_of(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
    return GpuReading(
        sm_mhz=answer_of(lambda: int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))),
        memory_mhz=answer_of(lambda: int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM))),
        reasons=None if reasons is None else int(reasons),
        memory_bytes=None if memory is None else int(memory.used),
        sm_share=None if use is None else use.gpu / 100,
        memory_share=None if use is None else use.memory / 100,
        processes=None if processes is None else tuple(sorted(int(process.pid) for process in processes)),
    )

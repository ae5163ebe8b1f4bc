"""A device's own clock is believed only where it can be true of the calls that were made."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest

from assay.core.engine_info import EngineInfo
from assay.ports import Tensor, Tensors
from assay.worker.timing.gpu_clock import calls_of
from assay.worker.timing.interleaved_timing import warm_up

CALL_S = 0.002


class _Timed:
    """An engine whose calls take `CALL_S`; `told` says what it tells of that."""

    def __init__(self, told: Callable[[float], float]) -> None:
        self._told = told

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        time.sleep(CALL_S)
        return dict(tensors)

    def save(self, folder: object) -> None: ...

    def facts(self) -> EngineInfo:
        return EngineInfo(backend_version="1", precision="float32")

    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        def call() -> float:
            begin = time.perf_counter()
            self.run(tensors)
            return self._told(time.perf_counter() - begin)

        return call


def _clock(*told: Callable[[float], float]) -> str:
    calls, clock = calls_of([_Timed(each) for each in told], {"x": np.zeros(1, np.float32)})
    return warm_up(calls, clock)[0]


def test_what_a_device_spends_of_a_call_is_its_time() -> None:
    assert _clock(lambda taken: 0.9 * taken, lambda taken: 0.3 * taken) == "device"


@pytest.mark.parametrize("false", [1e-9, 0.0, -1.0, 10.0, math.inf, math.nan])
def test_a_time_that_cannot_be_true_is_not_believed(false: float) -> None:
    assert _clock(lambda taken: 0.9 * taken, lambda taken: false) == "caller"

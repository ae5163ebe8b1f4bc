"""What is timed, and how often the clocks are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np

from assay.core.engine_info import EngineInfo
from assay.ports import Tensor, Tensors
from assay.worker.timing.bound_call import bound_call
from assay.worker.timing.measure import MAXIMUM_SAMPLES, MINIMUM_SAMPLES, sample
from statistical import three_tries


class _Engine:
    """Notes which of its two ways was taken."""

    def __init__(self) -> None:
        self.ways: list[str] = []

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        self.ways.append("run")
        return dict(tensors)

    def save(self, folder: object) -> None: ...

    def facts(self) -> EngineInfo:
        return EngineInfo()


class _Bound(_Engine):
    def bind(self, tensors: Tensors) -> Callable[[], object]:
        return lambda: self.ways.append("bound")


def test_an_engine_that_can_bind_its_inputs_is_timed_without_copies() -> None:
    image = np.ones((2, 3), np.float32)
    plain, bound = _Engine(), _Bound()
    bound_call(plain, {"x": image})()
    bound_call(bound, {"x": image})()
    assert (plain.ways, bound.ways) == (["run"], ["bound"])


def test_inputs_in_another_order_of_memory_are_not_put_in_order_beforehand() -> None:
    bound = _Bound()
    bound_call(bound, {"x": np.ones((2, 3), np.float32).T})()
    assert bound.ways == ["run"]


_SAMPLED = """
import json, sys, time
from assay.worker.timing.measure import sample
print(json.dumps(sample({call}, {budget_s})))
"""


def _sampled(call: str, budget_s: float) -> tuple[list[float], list[float]]:
    """In a process of one thread: the CPU clock is the whole process's, and a new pool of OpenBLAS spins before it sleeps."""
    code = _SAMPLED.format(call=call, budget_s=budget_s)
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=alone)
    wall, cpu = json.loads(done.stdout)
    return wall, cpu


@three_tries
def test_short_calls_share_a_reading_of_the_cpu_clock() -> None:
    wall, cpu = _sampled("lambda: sum(range(500))", 0.05)
    assert len(wall) > 10 * len(cpu) > 0
    assert 0.5 < np.mean(cpu) / np.median(wall) < 2.0


@three_tries
def test_long_calls_have_a_reading_each_and_are_at_least_five() -> None:
    wall, cpu = _sampled("lambda: time.sleep(0.01)", 0.001)
    assert len(wall) == len(cpu) == MINIMUM_SAMPLES
    assert np.median(cpu) < 0.5 * np.median(wall), "sleeping is no work"


def test_there_are_never_more_samples_than_are_kept() -> None:
    wall, _ = sample(lambda: None, 600.0)
    assert len(wall) == MAXIMUM_SAMPLES

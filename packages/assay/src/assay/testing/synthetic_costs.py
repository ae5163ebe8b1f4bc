"""What an engine may cost more than another, on demand and for real: work, waiting, memory, time to load, a leak."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from assay.core.flow import Option
from assay.ports import OptionSpec, Tensor, Tensors

OPTIONS = (
    OptionSpec("work_s", 0.0, help="CPU seconds more in each call"),
    OptionSpec("work_batch", 0, help="the only batch size at which it works 1.5 times as long as asked; 0: none"),
    OptionSpec("wait_s", 0.0, help="seconds of waiting more in each call"),
    OptionSpec(
        "device_sorts",
        0,
        help="so many times 4,096 numbers sorted in each call by its device, a thread; 0: it has none",
    ),
    OptionSpec("load_s", 0.0, help="seconds of waiting more while it loads"),
    OptionSpec("ballast_bytes", 0, help="memory that a loaded engine holds besides"),
    OptionSpec("drip_bytes", 0, help="memory that each call leaves behind"),
)


class SyntheticCost:
    """One loaded engine's. Every page that it holds is touched, so that it is resident."""

    def __init__(self, options: Mapping[str, Option]) -> None:
        self._options = options
        self._held: list[Tensor] = []
        self._device = ThreadPoolExecutor(1) if options["device_sorts"] else None
        if options["load_s"]:
            time.sleep(float(options["load_s"]))
        if options["ballast_bytes"]:
            self._held.append(np.ones(int(options["ballast_bytes"]), np.uint8))

    @property
    def has_device(self) -> bool:
        """Whether `carry` tells what a device spent."""
        return self._device is not None

    def carry(self, tensors: Tensors) -> float:
        """What one call costs more. The seconds of it that the device spent, by the device's own clock; 0 without one."""
        options = self._options
        if options["work_s"]:
            batch = next(iter(tensors.values())).shape[:1]
            _work(float(options["work_s"]) * (1.5 if batch == (options["work_batch"],) else 1.0))
        if options["wait_s"]:
            time.sleep(float(options["wait_s"]))
        if options["drip_bytes"]:
            self._held.append(np.ones(int(options["drip_bytes"]), np.uint8))
        return self._device.submit(_sort, int(options["device_sorts"])).result() if self._device else 0.0


def _sort(times: int) -> float:
    numbers = np.random.default_rng(0).random(4096)
    begin = time.thread_time()
    for _ in range(times):
        np.sort(numbers)
    return time.thread_time() - begin


def _work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

"""The faults themselves: ways for a process to die or stall, and ways for an answer to be false."""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from assay.core.flow import Option
from assay.errors import NotRunnable, Unavailable, Unsupported, UsageError
from assay.ports import Tensor
from assay.testing.acts import ACTS

Outputs = dict[str, Tensor]

PROCESS_FAULTS = (
    "segfault", "abort", "hang", "exit", "leak",
    "memory_error", "raise", "unsupported", "unavailable", "not_runnable", "chatty", "slow",
)  # fmt: skip
"""What can happen at any stage. The first five do not come back."""

ADMITTED = ("undelegated",)
"""What the facts own up to, while the answers are right: a delegate that took nothing."""

SPOILS = ("wipe_inputs",)
"""What is done to the inputs before they are read: they lie in the caller's memory."""

WHEN = ("now", "freed", "later")
"""When an act is committed, once its stage has come."""

_held: list[Tensor] = []


class Misbehaviour:
    """Options of the faulty backend, turned into deeds. Real ones: the process really dies."""

    def __init__(self, options: Mapping[str, Option]) -> None:
        self._options = options
        self._lying: bool | None = None
        self._acted = False
        self._when_freed: Callable[[], None] | None = None

    def at(self, stage: str) -> bool:
        """Commit the act or the process fault if this is its stage. True where a false answer is due in this run."""
        act = str(self._options["act"])
        if act and stage == self._options["stage"] and not self._acted:
            self._acted = True
            if self._still_due():
                self._act(ACTS[act].commit)
        fault = str(self._options["fault"])
        process = fault in PROCESS_FAULTS
        if fault == "none" or stage != (self._options["stage"] if process else "run"):
            return False
        if process:
            if self._still_due():
                self._commit(fault)
            return False
        # Decided once: an engine that lies in its first run lies in all of them.
        if self._lying is None:
            self._lying = self._still_due()
        return self._lying

    def _act(self, commit: Callable[[], None]) -> None:
        match str(self._options["act_when"]):
            case "freed":
                self._when_freed = commit
            case "later":
                threading.Timer(float(self._options["act_after_s"]), commit).start()
            case _:
                commit()

    def when_freed(self, outputs: Outputs) -> None:
        """An act that waits for it is committed when the first of them is freed."""
        if self._when_freed is not None:
            weakref.finalize(next(iter(outputs.values())), self._when_freed)
            self._when_freed = None

    def _still_due(self) -> bool:
        once_file = str(self._options["once_file"])
        if not once_file:
            return True
        try:
            with Path(once_file).open("x"):
                return True
        except FileExistsError:
            return False

    def _commit(self, fault: str) -> None:
        match fault:
            case "segfault":
                ctypes.string_at(0)
            case "abort":
                os.abort()
            case "exit":
                os._exit(3)
            case "hang":
                _sleep_forever()
            case "leak":
                _leak(int(self._options["leak_bytes"]))
            case "memory_error":
                raise MemoryError("faulty was asked to run out of memory.")
            case "raise":
                raise RuntimeError("faulty was asked to raise.")
            case "unsupported":
                raise Unsupported("faulty was asked not to support the operator Fancy.", node="fancy")
            case "unavailable":
                raise Unavailable("faulty was asked to lack a library.")
            case "not_runnable":
                raise NotRunnable("faulty was asked to have no device here.")
            case "chatty":
                _chat(int(self._options["chat_bytes"]))
            case _:
                time.sleep(float(self._options["seconds"]))


def _sleep_forever() -> None:
    while True:
        time.sleep(3600)


def _leak(limit: int, piece: int = 16 * 2**20) -> None:
    """Every page is touched, so that resident memory grows; paced at about 1 GB/s, so that a watchdog can act before
    the machine suffers; past the limit it only holds on."""
    while len(_held) * piece < limit:
        _held.append(np.ones(piece, np.uint8))
        time.sleep(0.01)
    _sleep_forever()


def _chat(size: int) -> None:
    """Past Python's buffers, as a native library writes."""
    line = b"faulty talks " * 5 + b"\n"
    for descriptor in (1, 2):
        rest = line * (size // len(line) + 1)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def zero_outputs(tensors: Mapping[str, Tensor]) -> None:
    """Zeros where numbers were."""
    for array in tensors.values():
        array[...] = 0


def _changed(outputs: Outputs, change: Callable[[Tensor], Tensor]) -> Outputs:
    """The first floating output changed, or the first of all where none is floating."""
    floating = [name for name, array in outputs.items() if array.dtype.kind == "f"]
    name = (floating or list(outputs))[0]
    return {**outputs, name: np.asarray(change(outputs[name]))}


def _with_first(array: Tensor, value: float) -> Tensor:
    poisoned = array.copy()
    poisoned.reshape(-1)[:1] = value
    return poisoned


def _two(outputs: Outputs) -> Outputs:
    if len(outputs) < 2:
        raise UsageError("This fault of faulty needs a model with two outputs; this one has one.")
    return outputs


def _swapped(outputs: Outputs) -> Outputs:
    first, second = list(_two(outputs))[:2]
    return {**outputs, first: outputs[second], second: outputs[first]}


def _renamed(outputs: Outputs) -> Outputs:
    first = next(iter(outputs))
    return {(f"{name}_renamed" if name == first else name): array for name, array in outputs.items()}


def _other_dtype(array: Tensor) -> Tensor:
    return array.astype(np.float32 if array.dtype == np.float64 else np.float64)


def _noisy(array: Tensor) -> Tensor:
    # Fresh entropy on purpose: no two runs agree, in one process or in two.
    return (array + np.random.default_rng().uniform(1e-3, 2e-3)).astype(array.dtype)


def _wrong_above_1(array: Tensor) -> Tensor:
    return (array + 0.09).astype(array.dtype) if array.ndim and array.shape[0] > 1 else array


def _wrong_above_8(array: Tensor) -> Tensor:
    return (array + 0.09).astype(array.dtype) if array.ndim and array.shape[0] > 8 else array


LIES: dict[str, Callable[[Outputs], Outputs]] = {
    "lie": lambda outputs: _changed(outputs, lambda array: (array + 0.09).astype(array.dtype)),
    "zeros": lambda outputs: {name: np.zeros_like(array) for name, array in outputs.items()},
    "scale2": lambda outputs: {name: (array * 2).astype(array.dtype) for name, array in outputs.items()},
    "lose_output": lambda outputs: dict(list(outputs.items())[:-1]),
    "extra_output": lambda outputs: {**outputs, "extra": np.zeros(3, np.float32)},
    "rename_output": _renamed,
    "swap_outputs": _swapped,
    "reorder_outputs": lambda outputs: dict(reversed(_two(outputs).items())),
    "nan": lambda outputs: _changed(outputs, lambda array: _with_first(array, np.nan)),
    "inf": lambda outputs: _changed(outputs, lambda array: _with_first(array, np.inf)),
    "wrong_shape": lambda outputs: _changed(outputs, lambda array: array[None]),
    "wrong_dtype": lambda outputs: _changed(outputs, _other_dtype),
    "nondeterministic": lambda outputs: _changed(outputs, _noisy),
}
"""False answers by name. `lie` adds 0.09, `nan` and `inf` replace one element; all of the first floating output."""

AT_SIZES: dict[str, Callable[[Outputs], Outputs]] = {
    "wrong_above_1": lambda outputs: _changed(outputs, _wrong_above_1),
    "wrong_above_8": lambda outputs: _changed(outputs, _wrong_above_8),
}
"""Answers that are false at some sizes only: the first axis longer than 1, or than 8."""

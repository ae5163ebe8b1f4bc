"""Engines that answer the same question otherwise: by the call, the order, the memory, the clock, the build. The first floating output
is off by 0.09 where nothing else is said."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from assay.core.flow import Option
from assay.core.repeats import Pattern
from assay.ports import OptionSpec, Tensor, Tensors

Outputs = dict[str, Tensor]
ERROR = 0.09
BUILD = "build.json"
OPTIONS = (
    OptionSpec("every", 50, help="of rare_call and nth_call: one call in so many"),
    OptionSpec("from_call", 20, help="of late_call: the first call that is false"),
    OptionSpec("after_s", 0.1, help="of late_moment: seconds since the engine was loaded"),
    OptionSpec("threads", 1, help="of by_threads: false for any other number"),
)


class Unsteady:
    """One engine's memory of what it was asked. `salt` is what its build left in it."""

    def __init__(self, options: Mapping[str, Option], salt: float = 0.0) -> None:
        self.options, self.salt = options, salt
        self.calls = 0
        self.history = 0
        self.last: float | None = None
        self.rng = np.random.default_rng()  # fresh entropy on purpose: bad calls come at random moments
        self.begin = time.perf_counter()
        self.buffers: Outputs = {}

    def answer(self, tensors: Tensors, outputs: Outputs) -> Outputs:
        """The outputs as this kind of engine gives them."""
        self.calls += 1
        kind = str(self.options["fault"])
        if kind in HANDLING:
            return HANDLING[kind](self, tensors, outputs)
        return _with_error(outputs, ERRORS[kind](self, tensors))


def _with_error(outputs: Outputs, error: float | Tensor) -> Outputs:
    floating = [name for name, array in outputs.items() if array.dtype.kind == "f"]
    name = (floating or list(outputs))[0]
    return {**outputs, name: np.asarray(outputs[name] + error).astype(outputs[name].dtype)}


def _first(tensors: Tensors) -> Tensor:
    return next(iter(tensors.values()))


def _by_previous(engine: Unsteady, tensors: Tensors) -> float:
    last, engine.last = engine.last, float(_first(tensors).reshape(-1)[0])
    return 0.0 if last is None else ERROR * last


def _by_history(engine: Unsteady, tensors: Tensors) -> float:
    engine.history = zlib.crc32(_first(tensors).tobytes(), engine.history)
    return ERROR * (engine.history % 97) / 97


def _rare(engine: Unsteady, _: Tensors) -> float:
    return ERROR * float(engine.rng.random() * int(engine.options["every"]) < 1.0)


ERRORS: dict[str, Callable[[Unsteady, Tensors], float]] = {
    "first_call": lambda engine, tensors: ERROR * (engine.calls == 1),
    "drifting": lambda engine, tensors: ERROR * engine.calls / 10,
    "rare_call": _rare,
    "nth_call": lambda engine, tensors: ERROR * (engine.calls % int(engine.options["every"]) == 0),
    "late_call": lambda engine, tensors: ERROR * (engine.calls >= int(engine.options["from_call"])),
    "late_moment": lambda engine, tensors: (
        ERROR * (time.perf_counter() - engine.begin > float(engine.options["after_s"]))
    ),
    "by_previous": _by_previous,
    "by_history": _by_history,
    "by_alignment": lambda engine, tensors: ERROR * (_first(tensors).ctypes.data % 64 != 0),
    "by_threads": lambda engine, tensors: ERROR * (engine.options["threads"] != 1),
    "by_build": lambda engine, tensors: engine.salt,
    "every_call": lambda engine, tensors: ERROR * float(engine.rng.random()),
    "last_bits": lambda engine, tensors: 1e-7 * float(engine.rng.random()),
}
"""What is added to the first floating output."""


def _by_mates(_: Unsteady, tensors: Tensors, outputs: Outputs) -> Outputs:
    """Rows take a part of the mean of the others."""
    given = _first(tensors)
    if given.shape[0] < 2:
        return outputs
    return _with_error(outputs, ERROR * float(given[1:].mean()))


def _reusing(engine: Unsteady, _: Tensors, outputs: Outputs) -> Outputs:
    for name, array in outputs.items():
        held = engine.buffers.get(name)
        if held is None or held.shape != array.shape:
            engine.buffers[name] = array.copy()
        else:
            held[...] = array
    return dict(engine.buffers)


def _two_buffers(engine: Unsteady, tensors: Tensors, outputs: Outputs) -> Outputs:
    spare = {name.removeprefix("spare "): array for name, array in engine.buffers.items() if name.startswith("spare ")}
    used = {name: array for name, array in engine.buffers.items() if not name.startswith("spare ")}
    engine.buffers = spare
    given = _reusing(engine, tensors, outputs)
    engine.buffers |= {f"spare {name}": array for name, array in used.items()}
    return given


def _writing(_: Unsteady, tensors: Tensors, outputs: Outputs) -> Outputs:
    for array in tensors.values():
        array[...] = 0
    return outputs


HANDLING: dict[str, Callable[[Unsteady, Tensors, Outputs], Outputs]] = {
    "by_mates": _by_mates,
    "reused_buffer": _reusing,
    "two_buffers": _two_buffers,
    "written_input": _writing,
}

SEEN_AS: dict[str, Pattern] = {
    "first_call": Pattern.FIRST_CALL,
    "drifting": Pattern.DRIFT,
    "rare_call": Pattern.RARE,
    "nth_call": Pattern.RARE,
    "late_call": Pattern.CALLS,
    "late_moment": Pattern.TIME,
    "by_previous": Pattern.PREVIOUS_SAMPLE,
    "by_history": Pattern.HISTORY,
    "by_alignment": Pattern.ALIGNMENT,
    "by_threads": Pattern.THREADS,
    "by_build": Pattern.SECOND_BUILD,
    "every_call": Pattern.EVERY_CALL,
    "by_mates": Pattern.BATCH_MATES,
    "reused_buffer": Pattern.REUSED_BUFFER,
    "two_buffers": Pattern.REUSED_BUFFER,
    "written_input": Pattern.WRITTEN_INPUT,
}
"""What each kind must be called. `last_bits` is no fault."""

UNSTEADY = (*ERRORS, *HANDLING)


def leave_salt(folder: Path) -> None:
    """Every build is another one."""
    (folder / BUILD).write_text(json.dumps(ERROR * float(np.random.default_rng().random())))


def salt_of(folder: Path) -> float:
    """What `leave_salt` left."""
    return float(json.loads((folder / BUILD).read_text()))

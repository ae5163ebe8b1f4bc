"""Whatever opens what a stranger sent is a process of its own, with limits on time and memory: what kills it is reported, and
costs one item."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec

_LONGEST_BYTES = 16 << 20
"""Of one answer; more is an attack on whoever reads it."""
_WRITTEN_BYTES = 32 << 20
"""To any one file: readers write nothing on a disk, but one may want a file in memory."""
_START_S = 300.0
"""Until the process is up: the machine's time, not the file's."""
_PATIENCE = 20.0
"""Seconds of the clock for each of the processor that an item may take: a busy machine is nobody's fault."""


_ENVIRONMENT = {
    "PATH": os.defpath, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
"""Nothing that a robot keeps to itself; one thread: those of a mathematics library would take address space that the limit counts."""


class Ending(StrEnum):
    """How the look at one item ended. ERROR: the reader itself failed, whoever is to blame. HARNESS: the process never came
    up, failed by itself, stood still, was killed by another or may have less memory than it needs, and no file is to blame."""

    OK = "ok"
    ERROR = "error"
    NESTED = "nested too deeply"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out of memory"
    HARNESS = "harness"


LAST = (Ending.OUT_OF_MEMORY, Ending.HARNESS)
"""After such an answer a process gives no other: what is left of its heap, or of itself, is not to be trusted."""


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one item: `value` where it is OK, `sentence` where it is not."""

    ending: Ending
    value: Any = None
    sentence: str = ""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the child is told, first line of its input."""

    target: str
    items: tuple[Any, ...]
    memory_bytes: int
    seconds: float
    written_bytes: int


def run_limited(
    target: str, items: Sequence[Any], *, seconds: float, memory_bytes: int, written_bytes: int = _WRITTEN_BYTES
) -> list[Looked]:
    """`target` ("package.module:function") applied to each item in a child process; one answer each, in their order.

    An item may take `seconds` of a processor, the process `memory_bytes` of address space, and any one file that it writes
    `written_bytes`. An item that crashes, does not end or eats the memory gets that as its answer, and the rest goes on in a
    fresh process. Items and values are what JSON holds.
    """
    looked: list[Looked] = []
    while len(looked) < len(items):
        looked += run_until_lost(
            target, items[len(looked) :], seconds=seconds, memory_bytes=memory_bytes, written_bytes=written_bytes
        )
    return looked


def run_until_lost(
    target: str, items: Sequence[Any], *, seconds: float, memory_bytes: int, written_bytes: int = _WRITTEN_BYTES
) -> list[Looked]:
    """As `run_limited`, in one process: the last answer may be of the item with which it was lost, and those after it have none."""
    work = Work(
        target=target, items=tuple(items), memory_bytes=memory_bytes, seconds=seconds, written_bytes=written_bytes
    )
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-m", "assay_zoo.limited_process_main"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_ENVIRONMENT, cwd="/", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        sentence = f"a process cannot be started ({error}); free memory or processes"
        return [Looked(ending=Ending.HARNESS, sentence=sentence)] * len(items)
    with child:
        try:
            return _converse(child, work)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _converse(child: subprocess.Popen[bytes], work: Work) -> list[Looked]:
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(msgspec.json.encode(work))
        child.stdin.close()
    lines = _Lines(child.stdout.fileno())
    if lines.next(_START_S) is None:
        return [_all_lost(child, lines)] * len(work.items)
    looked: list[Looked] = []
    for _ in work.items:
        line = lines.next(work.seconds * _PATIENCE)
        if line is None:
            looked.append(_lost(child, lines, work))
            break
        try:
            looked.append(msgspec.json.decode(line, type=Looked))
        except (msgspec.DecodeError, RecursionError):
            looked.append(Looked(ending=Ending.CRASH, sentence="what opened it gave no answer that can be read"))
            break
        if looked[-1].ending in LAST:
            break
    return looked


class _Lines:
    """Lines of a pipe, each with a time limit."""

    def __init__(self, descriptor: int) -> None:
        self.late = False
        self._descriptor = descriptor
        self._buffer = bytearray()

    def next(self, seconds: float) -> bytes | None:
        """The next line, None where the pipe ended, a line is too long, or the time is over (`late`)."""
        deadline = time.monotonic() + seconds
        while (end := self._buffer.find(b"\n")) < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                self.late = True
                return None
            data = os.read(self._descriptor, 1 << 16)
            if not data or len(self._buffer) > _LONGEST_BYTES:
                return None
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


def _lost(child: subprocess.Popen[bytes], lines: _Lines, work: Work) -> Looked:
    """The answer for the item that was being looked at when the process was lost."""
    if lines.late:
        sentence = f"opening it did not end within {work.seconds * _PATIENCE:g} s; look again later"
        return Looked(ending=Ending.HARNESS, sentence=sentence)
    code = _code(child)
    if code == -signal.SIGXCPU:
        return Looked(ending=Ending.TIMEOUT, sentence=f"opening it took more than {work.seconds:g} s of a processor")
    if code == -signal.SIGKILL:
        # It was not stopped by a limit of its own, so by the machine or by somebody.
        return Looked(ending=Ending.HARNESS, sentence="what opened it was killed by the machine; look again later")
    sentence = signal.Signals(-code).name if code < 0 else f"exit {code}"
    return Looked(ending=Ending.CRASH, sentence=f"opening it crashed the reader ({sentence})")


def _all_lost(child: subprocess.Popen[bytes], lines: _Lines) -> Looked:
    why = f"did not start within {_START_S:g} s" if lines.late else f"could not be started (exit {_code(child)})"
    return Looked(ending=Ending.HARNESS, sentence=f"the process that opens files {why}")


def _code(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return 0

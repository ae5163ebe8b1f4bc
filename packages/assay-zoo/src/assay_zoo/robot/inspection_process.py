"""The robot's side of an inspection: a child that is watched, that may die, and that costs one attempt then."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import IO

import msgspec

from assay_zoo.inspect import Inspection

_KEPT = (
    "PATH", "HOME", "LANG", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "XDG_CACHE_HOME",
)  # fmt: skip
_KEPT_FAMILIES = ("LC_", "ASSAY_", "CUDA_", "OMP_", "MKL_", "OPENBLAS_")
_WAIT_S = 0.5
_STDERR_BYTES = 4000


class Ending(StrEnum):
    """LOST: the job is no longer ours. STOPPED: the robot is going down. FAILED: the inspection ended without an answer."""

    DONE = "done"
    LOST = "lost"
    STOPPED = "stopped"
    FAILED = "failed"


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    ending: Ending
    inspection: Inspection | None = None
    sentence: str = ""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the child."""

    begins: str = ""
    group: str = ""
    seconds: float = 0.0
    outcomes: dict[str, int] = {}
    failed: str = ""


def inspect_in_child(
    root: Path,
    name: str,
    history: str,
    scratch: Path,
    *,
    author: str = "",
    approved: str = "",
    limit_s: float,
    beat: Callable[[], bool],
    beat_s: float,
    stopping: Callable[[], bool],
    heard: Callable[[Progress], None],
    hidden: Iterable[str] = (),
) -> Ended:
    """Inspect `root`/submissions/`name`. `beat` is called every `beat_s` seconds and says whether to go on; `hidden`
    names variables that the child must not see. `scratch` is an existing folder of our own."""
    out, errors = scratch / "inspection.json", scratch / "stderr"
    with errors.open("wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-m", "assay_zoo.robot.inspection_main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=scratch,
            env=_environment(os.environ, hidden),
            start_new_session=True,
        )
    whose = {"name": name, "author": author, "approved": approved}
    asked = {"root": str(root), **whose, "history": history, "out": str(out)}
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it is dead already: that is seen below
        child.stdin.write(msgspec.json.encode(asked) + b"\n")
        child.stdin.flush()
    watch = _Watch(child, limit_s, beat, beat_s, stopping, heard)
    try:
        ended = watch.until_it_ends()
    finally:
        _kill(child)
    if ended is not None:
        return ended
    try:
        return Ended(ending=Ending.DONE, inspection=msgspec.json.decode(out.read_bytes(), type=Inspection))
    except (OSError, msgspec.DecodeError):
        return Ended(ending=Ending.FAILED, sentence=_why(child, watch, errors))


class _Watch:
    def __init__(
        self,
        child: subprocess.Popen[bytes],
        limit_s: float,
        beat: Callable[[], bool],
        beat_s: float,
        stopping: Callable[[], bool],
        heard: Callable[[Progress], None],
    ) -> None:
        self._child, self._limit_s, self._beat, self._beat_s = child, limit_s, beat, beat_s
        self._stopping, self._heard = stopping, heard
        self.last = ""
        self.failed = ""

    def until_it_ends(self) -> Ended | None:
        """None where the child ended by itself."""
        begin = beaten = time.monotonic()
        assert self._child.stdout is not None
        lines = _Lines(self._child.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while self._child.poll() is None:
                if selector.select(_WAIT_S):
                    self._hear(lines.read())
                if lines.closed:
                    time.sleep(_WAIT_S / 10)
                now = time.monotonic()
                if self._stopping():
                    return Ended(ending=Ending.STOPPED)
                if now - begin > self._limit_s:
                    sentence = f"the inspection did not end within {self._limit_s:g} s{self._where()}"
                    return Ended(ending=Ending.FAILED, sentence=sentence)
                if now - beaten >= self._beat_s:
                    beaten = now
                    if not self._beat():
                        return Ended(ending=Ending.LOST)
        self._hear(lines.read())
        return None

    def _hear(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError):
                progress = msgspec.json.decode(line, type=Progress)
                self.last = progress.begins or self.last
                self.failed = progress.failed or self.failed
                self._heard(progress)

    def _where(self) -> str:
        return f" (it was at {self.last})" if self.last else ""

    def sentence(self) -> str:
        """How a child ended that left no inspection."""
        code = self._child.returncode
        if self.failed:
            return self.failed
        if code < 0:
            return f"the inspection was ended by {_signal(-code)}{self._where()}"
        return f"the inspection ended with exit code {code} and without an answer{self._where()}"


class _Lines:
    """Whole lines of a pipe, without waiting for them."""

    def __init__(self, pipe: IO[bytes]) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._pipe, self._rest, self.closed = pipe, b"", False

    def read(self) -> list[bytes]:
        try:
            data = os.read(self._pipe.fileno(), 1 << 16)
        except BlockingIOError:
            return []
        self.closed = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines


def _environment(variables: Mapping[str, str], hidden: Iterable[str]) -> dict[str, str]:
    """What the child sees: named variables only, so that a token never is among them."""
    secret = set(hidden)
    kept = {name: value for name, value in variables.items() if name in _KEPT or name.startswith(_KEPT_FAMILIES)}
    return {name: value for name, value in kept.items() if name not in secret}


def _kill(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _why(child: subprocess.Popen[bytes], watch: _Watch, errors: Path) -> str:
    watched = watch.sentence()
    if child.returncode == 0 or watch.failed:
        return watched
    with errors.open("rb") as file:
        file.seek(max(0, errors.stat().st_size - _STDERR_BYTES))
        words = file.read().decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(words) if line.strip()), "")
    return f"{watched}: {last}" if last else watched


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

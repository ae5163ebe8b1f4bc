"""How a sandboxed process ended, in a word and a sentence."""

from __future__ import annotations

import re
import signal

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay.launch.sandbox.copy import describe_left_out
from assay.launch.sandbox.watch import FILES, OUTPUT_BYTES, THREADS_PER_PROCESS, SandboxProcess

KEPT = 64 * 1024
"""Characters kept of each stream: the last."""
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_MEMORY = re.compile(r"^MemoryError|std::bad_alloc|Cannot allocate memory|\[Errno 12\]", re.MULTILINE)
_NO_ROOM = re.compile(r"No space left on device|\[Errno 28\]|\[Errno 27\]|File too large")
_NO_FORK = re.compile(r"\[Errno 11\]|Resource temporarily unavailable|can't start new thread|Cannot fork")
_NO_FILES = re.compile(r"\[Errno 24\]|Too many open files")
_LAST_LINES = 2000
"""Characters of standard error in which the code's own words are looked for."""


def describe_exit(child: SandboxProcess, limits: SandboxLimits, left_out: tuple[str, ...]) -> Sandboxed:
    """What `watch` saw, as a value."""
    stdout, stderr = (_plain(child.tails[name]) for name in ("stdout", "stderr"))
    ending, sentence = _ending(child, limits, stderr)
    if lowered := {} if child.stopped else _to_blame(child, ending, stderr):
        less = ", ".join(f"RLIMIT_{name} {most}" for name, most in lowered.items())
        sentence += f"; and this machine allows it less than the sandbox does (hard limits: {less}): raise them, then look again"
        ending = Ending.INFRASTRUCTURE
    outlived = "some of its processes were killed and have not ended yet" if child.outlived else ""
    notes = tuple(filter(None, (_left_behind(child.left_behind), outlived, describe_left_out(left_out))))
    return Sandboxed(
        ending=ending,
        sentence="; ".join((sentence, *notes)),
        notes=notes,
        exit_code=child.exit_code if child.exit_code is not None else -1,
        stdout=stdout,
        stderr=stderr,
        seconds=child.seconds,
        peak_bytes=child.peak.memory_bytes,
    )


def _to_blame(child: SandboxProcess, ending: Ending, stderr: str) -> dict[str, int]:
    """Those of the machine's lower limits that such an end may come from: a wrong shape comes from none."""
    killed = _signal(child.exit_code) if child.exit_code is not None else "SIGKILL"
    crashed = ending is Ending.CRASH
    no_memory = ending is Ending.OUT_OF_MEMORY or (crashed and killed not in ("SIGXCPU", "SIGXFSZ"))
    causes = {
        "AS": no_memory,  # code that does not look at what malloc answers crashes in many ways
        "DATA": no_memory,
        "NOFILE": ending is not Ending.OK and _NO_FILES.search(stderr[-_LAST_LINES:]) is not None,
        "NPROC": ending is Ending.TOO_MANY_PROCESSES,
        "FSIZE": ending is Ending.DISK_FULL or (crashed and killed == "SIGXFSZ"),
        "CPU": crashed and killed in ("SIGXCPU", "SIGKILL"),
    }
    return {name: most for name, most in child.lowered.items() if causes.get(name, False)}


def _ending(child: SandboxProcess, limits: SandboxLimits, stderr: str) -> tuple[Ending, str]:
    full = f"it filled its {_mb(limits.disk_bytes)} of disk"
    crowd = f"it asked for more than {limits.processes} processes or {limits.processes * THREADS_PER_PROCESS} threads"
    stopped = {
        "memory": (
            Ending.OUT_OF_MEMORY,
            f"stopped at {_mb(child.peak.memory_bytes)} of memory; the limit is {_mb(limits.memory_bytes)}",
        ),
        "processes": (
            Ending.TOO_MANY_PROCESSES,
            f"stopped with {child.peak.processes} processes and {child.peak.threads} threads; the limit is {limits.processes} processes"
            if child.peak.processes > limits.processes
            else f"stopped when {crowd}",
        ),
        "files": (
            Ending.DISK_FULL,
            f"stopped with more than {FILES} files{'; ' + full if child.disk_was_full else ''}",
        ),
        "output": (Ending.ERROR, f"stopped after {_mb(OUTPUT_BYTES)} of output"),
        "time": (
            Ending.TIMEOUT,
            f"not done within {child.time.limit_s:g} s{'; ' + full if child.disk_was_full else ''}",
        ),
    }
    if not child.started:
        last_line = stderr.strip().splitlines()[-1:] or [child.stopped or "it ended before it began"]
        return Ending.INFRASTRUCTURE, f"the sandbox did not start: {last_line[0]}"
    if child.stopped and not (child.stopped == "time" and child.exit_code is not None):
        if child.stopped == "time" and child.time.is_put_off_no_more:
            text = f"not done within {child.seconds:.0f} s, {child.time.waited_s:.0f} s of which others had the cores"
            return Ending.INFRASTRUCTURE, f"{text}: look again when the machine has less to do"
        return stopped[child.stopped]
    code = child.exit_code
    if code == 0:
        return Ending.OK, "ended by itself"
    last = stderr[-_LAST_LINES:]
    if child.disk_was_full or _NO_ROOM.search(last):
        return Ending.DISK_FULL, f"{full}, and ended with exit code {code}"
    if child.peak.processes >= limits.processes or _NO_FORK.search(last):
        return Ending.TOO_MANY_PROCESSES, f"{crowd}, and ended with exit code {code}"
    if _NO_MEMORY.search(last):
        return Ending.OUT_OF_MEMORY, f"it asked for more memory than the {_mb(limits.memory_bytes)} allowed"
    if code is None:
        return Ending.CRASH, "its first process was killed from inside"
    if (name := _signal(code)) is not None:
        return Ending.CRASH, f"it crashed: {name}"
    if code in (126, 127):
        return Ending.ERROR, f"the command cannot be run (exit code {code})"
    return Ending.ERROR, f"exit code {code}{_last_lines(stderr)}"


def _signal(code: int) -> str | None:
    """A shell reports the death by a signal as 128 + its number."""
    try:
        return signal.Signals(code - 128).name if code > 128 else None
    except ValueError:
        return None


def _last_lines(stderr: str) -> str:
    last = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    return f": {last[:300]}" if last else ""


def _left_behind(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    many, were = ("", "was") if len(names) == 1 else ("es", "were")
    return f"it left {len(names)} process{many} behind ({', '.join(map(ascii, names[:3]))}), which {were} ended"


def _plain(tail: bytearray) -> str:
    return _CONTROLS.sub("", tail.decode(errors="replace"))[-KEPT:]


def _mb(count: int) -> str:
    return f"{count / 1e6:.0f} MB"

"""Cases made by a process of its own, under limits that the kernel holds it to."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.core.case import Case
from assay.core.limits import Limits
from assay.errors import HarnessError
from assay.models.telemetry import GUARD
from assay.suites.cache import read_index

START = (
    GUARD
    + "import resource, runpy, signal, sys; signal.alarm(int(sys.argv.pop(1))); most = int(sys.argv.pop(1)) or -1; "
    "hard = resource.getrlimit(resource.RLIMIT_DATA)[1]; "
    "most = min((one for one in (most, hard) if one != resource.RLIM_INFINITY), default=resource.RLIM_INFINITY); "
    "resource.setrlimit(resource.RLIMIT_DATA, (most, most)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
"""`python -m MODULE` under a limit of seconds from its first import on, and one of bytes (0: none)."""
IMPORT_LIMIT_S = 300
"""For what a process imports before it sets a limit of its own. Then the kernel ends it."""
LIMIT_S = 4800
"""For all cases of a suite of ours: they take minutes, and twenty times as long where other work leaves them little of the processor."""


def run_in_subprocess(
    maker: str, *arguments: str, input_bytes: bytes = b"", seconds: int = IMPORT_LIMIT_S, memory_bytes: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """The module `maker`, with `input_bytes` as its input."""
    command = [sys.executable, "-P", "-c", START, str(seconds), str(memory_bytes), maker, *arguments]
    return subprocess.run(command, input=input_bytes, capture_output=True, check=False)


def cases_made_once(index: Path, maker: str, what: str) -> list[Case]:
    """Those that `index` lists; the first call makes them. Raises HarnessError, which begins with `what`."""
    cases = read_index(index)
    if cases is None:
        make_in_subprocess(index, maker, what, str(index))
        cases = read_index(index)
    return cases or []


def make_in_subprocess(index: Path, maker: str, what: str, *arguments: str) -> None:
    """Run the module `maker`, which writes `index`. Of two processes that lack it one makes it and the other waits: it would
    write over files that are read. Raises HarnessError, which begins with `what`."""
    with alone(index.parent):
        if read_index(index) is not None:
            return
        done = run_in_subprocess(maker, *arguments, seconds=LIMIT_S)
    if done.returncode:
        raise HarnessError(f"{what}: {describe_exit(done, Limits(timeout_s=LIMIT_S))}")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """No other process makes anything in `folder` meanwhile."""
    with (folder / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def describe_exit(done: subprocess.CompletedProcess[bytes], limits: Limits) -> str:
    """Why a process that was held to `limits` gave no answer, in words."""
    last_line = _last_said(done.stderr.decode(errors="replace"))
    if done.returncode == -signal.SIGALRM:
        return f"it took more than {limits.timeout_s:g} s"
    if last_line.startswith("MemoryError") or "bad_alloc" in last_line:
        limit = f"the limit of {limits.memory_bytes / 1e6:.0f} MB" if limits.memory_bytes else "there is"
        return f"it needs more memory than {limit}"
    if done.returncode == -signal.SIGKILL:
        return "it was killed, most probably by the kernel for want of memory"
    if done.returncode < 0:
        return f"the process that reads it died (signal {-done.returncode})"
    return last_line or f"exit code {done.returncode}"


def _last_said(text: str) -> str:
    """The last line, where a traceback tells what happened, without the name of an error of ours."""
    last = text.strip().rpartition("\n")[2]
    return last.partition(": ")[2] if last.startswith("assay.errors.") else last

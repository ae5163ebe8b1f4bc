"""A child with limits on time, memory and output. Whatever happens in it, the caller goes on."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from assay.errors import HarnessError

OUTPUT_BYTES = 64 << 20
"""A file that the child writes, its answer among them."""


@dataclass(frozen=True, kw_only=True)
class ChildLimits:
    """`seconds` of processor time: a busy machine does not count. The clock on the wall is given `patience` times more."""

    seconds: int = 60
    memory_bytes: int = 4_000_000_000
    file_bytes: int = OUTPUT_BYTES
    patience: float = 10.0


@dataclass(frozen=True, kw_only=True)
class CompletedChild:
    """How a child ended: `code` negative is a signal, as in subprocess; `late` where the wall's clock ran out."""

    code: int
    output: bytes
    errors: str
    late: bool = False


def run_child(module: str, given: bytes, limits: ChildLimits) -> CompletedChild:
    """`python -m module LIMITS` with `given` on standard input; the module begins with `limit_self`. Raises HarnessError
    where it cannot be started."""
    told = f"{limits.seconds},{limits.memory_bytes},{limits.file_bytes}"
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        asked.write(given)
        asked.seek(0)
        try:
            child = subprocess.Popen(
                [sys.executable, "-m", module, told],
                stdin=asked,
                stdout=out,
                stderr=errors,
                start_new_session=True,
                env=_environment(),
            )
        except OSError as error:
            raise HarnessError(f"a child process cannot be started ({error}); free memory or processes") from None
        late = False
        try:
            child.wait(limits.seconds * limits.patience)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                child.wait()
                raise
            late = True
        code = child.wait()
        return CompletedChild(
            code=code, output=_read(out.fileno(), OUTPUT_BYTES), errors=_tail(errors.fileno()), late=late
        )


def limit_self() -> None:
    """In the child, first of all: before anything of a third party is read."""
    seconds, memory, size = map(int, sys.argv[1].split(","))
    for what, least in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, size),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (least if hard == resource.RLIM_INFINITY else min(least, hard), hard))


def ending(ran: CompletedChild) -> str:
    """Why it ended badly, in words; "" where it ended well."""
    if ran.late:
        return "did not end"
    if ran.code < 0:
        name = signal.Signals(-ran.code).name
        if -ran.code == signal.SIGXCPU:
            return "did not end: all of its processor time was used"
        return f"died of {name}"
    return f"ended with code {ran.code}" if ran.code else ""


def _environment() -> dict[str, str]:
    """What Python needs, and nothing that a robot keeps to itself. One thread: those of a mathematics library would take
    address space that the limit counts."""
    kept = (
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "PYTHONHOME",
        "LD_LIBRARY_PATH",
        "SYSTEMROOT",
    )
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {name: os.environ[name] for name in kept if name in os.environ} | threads


def _read(descriptor: int, most: int) -> bytes:
    return os.pread(descriptor, min(os.fstat(descriptor).st_size, most), 0)


def _tail(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    text = os.pread(descriptor, 2000, max(size - 2000, 0)).decode(errors="replace")
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())

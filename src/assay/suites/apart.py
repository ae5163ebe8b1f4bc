"""All cases of a suite, made once by a process of its own."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

from assay.errors import HarnessError
from assay.suites.cache import read_index


def make_apart(index: Path, maker: str, what: str, *arguments: str) -> None:
    """Run the module `maker`, which writes `index`. Of two processes that lack it one makes it and the other waits: it would
    write over files that are read. Raises HarnessError, which begins with `what`."""
    with (index.parent / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if read_index(index) is not None:
            return
        done = subprocess.run([sys.executable, "-m", maker, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise HarnessError(f"{what}: {_last_said(done.stderr) or f'exit code {done.returncode}'}")


def _last_said(text: str) -> str:
    """The last line, where a traceback tells what happened, without the name of an error of ours."""
    last = text.strip().rpartition("\n")[2]
    return last.partition(": ")[2] if last.startswith("assay.errors.") else last

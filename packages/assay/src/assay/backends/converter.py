"""A vendor's conversion program, run as a child: several of them die on models that they do not like."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Converted:
    """What the program said, standard output and error together, and how it ended."""

    text: str
    code: int

    @property
    def signal(self) -> str:
        """The signal that ended it ("SIGSEGV"), "" where none did."""
        return signal.Signals(-self.code).name if self.code < 0 else ""


def convert(command: Sequence[str], folder: Path) -> Converted:
    """Run it in `folder`. No limits of its own: the job's clock ends the whole process group."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Converted(done.stdout, done.returncode)

"""Output into a pipe whose reader has left, as in `assay check ... | head`: nobody wants the rest, and the exit code still counts."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _UntilUnread(io.FileIO):
    """A descriptor that leads nowhere from the moment when its pipe has no reader."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)


def ignore_broken_pipe() -> None:
    """From here on neither standard output nor standard error raises BrokenPipeError: a command goes on to its end, and ends with
    its own exit code. Streams that are not the process's own (a test's) stay as they are, as do terminals."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not getattr(sys, f"__{name}__") or not isinstance(stream, io.TextIOWrapper) or stream.isatty():
            continue
        stream.flush()
        raw = _UntilUnread(stream.fileno(), "wb", closefd=False)
        again = io.TextIOWrapper(
            raw if stream.write_through else io.BufferedWriter(raw), stream.encoding, stream.errors,
            line_buffering=stream.line_buffering, write_through=stream.write_through,
        )  # fmt: skip
        setattr(sys, name, again)

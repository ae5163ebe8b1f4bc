"""What a native library prints on its standard output and error while it works, read and passed on."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable


def printed_by(work: Callable[[], object]) -> str:
    """What reaches the file descriptors 1 and 2 during `work`; it goes where it would have gone, too, when the work is over."""
    flush = ctypes.CDLL(None).fflush
    flush(None)
    kept = {number: os.dup(number) for number in (1, 2)}
    try:
        with tempfile.TemporaryFile() as file:
            try:
                for number in kept:
                    os.dup2(file.fileno(), number)
                work()
            finally:
                flush(None)
                for number, before in kept.items():
                    os.dup2(before, number)
            file.seek(0)
            content = file.read()
        os.write(2, content)
    finally:
        for before in kept.values():
            os.close(before)
    return content.decode(errors="replace")

"""`assay`: the commands, and what each ending of one means to the shell."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import io
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from assay.cli.lazy_group import LazyGroup
from assay.errors import BrokenGuard, HarnessError, NothingSelected, UsageError

FAILED = 1
USAGE = 2
NOTHING = 5
HARNESS = 4
_NO_RIGHTS = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
GARBAGE = 50_000
"""Objects made, less those freed, before the garbage collector looks at the new ones."""

app = typer.Typer(
    name="assay",
    cls=LazyGroup,
    help="Is the engine you just built still your model, and is it still as fast?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 pass, 1 fail, 2 wrong usage or bad input, 3 inconclusive, 4 the harness or the machine failed, "
    "5 nothing was executed.",
)
app.callback()(lambda: None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Exits; a user's mistake is one sentence on standard error, never a traceback."""
    be_command()
    exits(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> None:
    demand_clock()
    app(args=list(arguments) if arguments is not None else None, prog_name="assay")


def demand_clock() -> None:
    """Python counts nanoseconds in 64 bits. Raises HarnessError where the clock is beyond them."""
    try:
        time.time()
    except OverflowError:
        raise HarnessError(
            "this machine's clock is beyond the year 2262, which no run could be recorded with: set it"
        ) from None


def be_command() -> None:
    """What this process needs as a command, and no library would do."""
    # A tenth of the driver's time went into looking through thousands of results that live until its end.
    gc.set_threshold(GARBAGE)
    # And a fifth of a second at its end: through all that ends with the process anyway.
    atexit.register(gc.freeze)
    ignore_broken_pipe()


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


def exits(command: Callable[[], None]) -> None:
    """Runs it, and exits with the code of what it raises."""
    try:
        command()
    except BrokenGuard as error:
        _say(error)
        sys.exit(FAILED)
    except NothingSelected as error:
        _say(error)
        sys.exit(NOTHING)
    except UsageError as error:
        _say(error)
        sys.exit(USAGE)
    except HarnessError as error:
        _say(error)
        sys.exit(HARNESS)
    except MemoryError:
        _say("the driver itself ran out of memory; run fewer jobs at once (--workers)")
        sys.exit(HARNESS)
    except Exception as error:  # noqa: BLE001  told whole, and the exit code is not that of a verdict
        if isinstance(error, OSError) and error.errno in _NO_RIGHTS and error.filename:
            _say(f"{error.filename}: {error.strerror}; change its permissions or those of its folder, or name another")
            sys.exit(USAGE)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _say(_no_room(error))
            sys.exit(HARNESS)
        traceback.print_exc()
        _say("that was a defect of assay itself, and no verdict; please report the lines above")
        sys.exit(HARNESS)


def _no_room(error: OSError) -> str:
    """Which option names another place is known to the command alone; of a temporary file a variable does."""
    if not error.filename:
        return f"{error.strerror}; free some space"
    file, temporary = Path(os.fsdecode(error.filename)), ""
    with contextlib.suppress(OSError):  # where none is usable, nothing is below it
        temporary = " (TMPDIR for temporary files)" if file.is_relative_to(tempfile.gettempdir()) else ""
    return f"{file}: {error.strerror}; free some space, or name another place for it{temporary}"


def _say(text: object) -> None:
    from assay.cli.common import tell_line

    for line in str(text).splitlines():
        tell_line(f"assay: {line}")

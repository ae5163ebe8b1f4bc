"""A program that a library runs and that fails: its name, how it ended, and its last words, in place of its command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from subprocess import CalledProcessError

from assay.core.note import Note, NoteCode, noted
from assay.core.wire import encodable

LONGEST = 400
"""Characters kept of its last line."""
_DEEPEST = 8
_REPEATED = 80
"""Characters of the command by which a text is known to repeat it."""
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/:'\"]+/)+")


def failed_tool(error: BaseException, text: str, printed: Sequence[str]) -> Note | None:
    """None where no program failed, or where the `text` of the error is more than its command. What the program wrote is in the error
    where the library has read it, else at the end of what was `printed`."""
    with suppress(Exception):  # what an error says of itself may be code of the backend
        for cause in _chain(error):
            if issubclass(type(cause), CalledProcessError) and isinstance(cause, CalledProcessError):
                if " ".join(str(cause).split())[:_REPEATED] not in text:
                    return None
                line = (
                    _last_line(cause.stderr) or _last_line(cause.output) or _last_line(printed[-1] if printed else "")
                )
                return noted(
                    NoteCode.TOOL_FAILED,
                    program=_program(cause.cmd),
                    status=int(cause.returncode),
                    line=line,
                )
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    at: BaseException | None = error
    for _ in range(_DEEPEST):
        if at is None:
            return
        yield at
        at = at.__cause__ or at.__context__


def _program(command: object) -> str:
    first = command[0] if isinstance(command, list | tuple) else str(command).split()[0]
    return encodable(os.path.basename(os.fsdecode(first)))


def _last_line(output: object) -> str:
    """Without the folders of files."""
    text = output.decode(errors="replace") if isinstance(output, bytes) else str(output or "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return encodable(_FOLDERS.sub("", lines[-1])[:LONGEST]) if lines else ""

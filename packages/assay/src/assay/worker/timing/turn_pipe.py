"""The line between two processes that take turns: two named pipes, on which the death of the other is heard at once."""

from __future__ import annotations

import os
import select
from pathlib import Path

from assay.core.note import NoteCode, noted
from assay.errors import PeerFailed

PATIENCE_S = 120.0
"""For the other process to start, to load its engine, or to take its turn."""
GO, DONE, QUIT, FAILED = b"g", b"d", b"q", b"f"
_HELLO = b"h"


class TurnPipe:
    """`folder` holds the pipes `to-lead` and `to-follow`.

    Each is opened for reading and writing at first, so that neither side waits for the other to open; once both have
    said hello, the reading end is opened again for reading alone. Then the last writer's death ends the file.
    """

    def __init__(self, folder: Path, *, leads: bool) -> None:
        names = ("to-lead", "to-follow") if leads else ("to-follow", "to-lead")
        self._path = folder / names[0]
        try:
            (folder / f"{names[1]}-was-here").touch(exist_ok=False)
        except FileExistsError:
            # Whoever launches repeats a crash once: nobody is left to take turns with.
            raise PeerFailed(noted(NoteCode.PEER_GONE)) from None
        self._in, self._out = (os.open(folder / name, os.O_RDWR) for name in names)

    def __enter__(self) -> TurnPipe:
        try:
            os.write(self._out, _HELLO)
            if self.read(1) != _HELLO:
                raise PeerFailed(noted(NoteCode.PEER_NOT_READY))
            both, self._in = self._in, os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
            os.close(both)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:
            os.write(self._out, FAILED)
        self._close()

    def _close(self) -> None:
        os.close(self._in)
        os.close(self._out)

    def write(self, data: bytes) -> None:
        """A few bytes: a pipe holds them whether the other reads or not."""
        os.write(self._out, data)

    def read(self, count: int) -> bytes:
        """Raises PeerFailed where the other does not answer, or is no more."""
        if not select.select([self._in], [], [], PATIENCE_S)[0]:
            raise PeerFailed(noted(NoteCode.PEER_LATE, seconds=PATIENCE_S))
        data = os.read(self._in, count)
        if not data:
            raise PeerFailed(noted(NoteCode.PEER_DIED))
        return data

    def read_line(self) -> str:
        """Up to the end of the line."""
        line = b""
        while not line.endswith(b"\n"):
            line += self.read(1)
            if line == FAILED:
                raise PeerFailed(noted(NoteCode.PEER_NOT_STARTED))
        return line.decode()

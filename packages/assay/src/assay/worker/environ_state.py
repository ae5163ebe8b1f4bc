"""The variables of this process: Python's view of them, and the one of the C library, which Python does not see."""

from __future__ import annotations

import ctypes
import os


class EnvironState:
    """As they were when this was made, or when `changed` last said that they differ."""

    def __init__(self) -> None:
        self._python = dict(self._data())
        self._pointer = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
        self._read()

    @staticmethod
    def _data() -> dict[bytes, bytes]:
        """Undecoded: os.environ itself takes 20 µs to compare."""
        return os.environ._data  # type: ignore[attr-defined, no-any-return]

    def _read(self) -> None:
        self._texts = self._all()
        self._address, self._raw = self._place(), self._slots(len(self._texts))

    def _place(self) -> int:
        return ctypes.cast(self._pointer, ctypes.c_void_p).value or 0

    def _slots(self, count: int) -> bytes:
        return ctypes.string_at(self._place(), 8 * (count + 1)) if self._place() else b""

    def _all(self) -> list[bytes]:
        found: list[bytes] = []
        while self._place() and (text := self._pointer[len(found)]) is not None:
            found.append(text)
        return found

    def changed(self) -> bool:
        """Whether any was added, removed or given another value."""
        if self._data() != self._python:
            return True
        if self._place() == self._address and self._slots(len(self._texts)) == self._raw:
            return False
        before = sorted(self._texts)
        self._read()
        return sorted(self._texts) != before

"""Where one answer of HTTP/1.1 ends (RFC 9112, 6.3), from its pieces as they come: requests are timed, so nothing is read twice."""

from __future__ import annotations

import re

_MOST_HEAD_BYTES = 2**16
_MOST_BYTES, _MOST_BYTES_A_TOKEN = 2**20, 2**12
_LENGTH = re.compile(rb"^content-length:[ \t]*([^\r\n]*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
CHUNKED = re.compile(rb"^transfer-encoding:[^\r\n]*chunked", re.IGNORECASE | re.MULTILINE)
INTERIM = re.compile(rb"http/1\.[01] 1(?!01)[0-9]{2}\b.*?\r\n\r\n", re.IGNORECASE | re.DOTALL)
"""The whole of an interim answer, such as 100 and 103: the answer comes behind it (RFC 9110, 15.2). 101 is no interim one."""
_MOST_INTERIM = 16
_CLOSES = re.compile(rb"^http/1\.0|^connection:[^\r\n]*close", re.IGNORECASE | re.MULTILINE)
_NUMBER, _SIZE = re.compile(rb"[0-9]{1,18}"), re.compile(rb"[0-9a-fA-F]{1,15}")
_EMPTY = (b"204", b"304")
_UNKNOWN, _IN_CHUNKS, _UNTIL_CLOSED = -1, -2, -3
"""How many bytes of an answer are left: its head is not read yet, or it does not say."""


class Framing:
    """Of one answer, of a request for so many tokens: one that is longer than these can make it never ends. `error` says what is wrong with
    it, `keeps` whether the connection serves another request."""

    def __init__(self, tokens: int) -> None:
        self.error, self.keeps = "", True
        self._most = _MOST_BYTES + _MOST_BYTES_A_TOKEN * tokens
        self._left, self._size = _UNKNOWN, 0
        self._head, self._looked, self._interim, self._line = bytearray(), 0, 0, b""
        self._of_chunk, self._last = 0, False

    def take(self, data: bytes) -> bool:
        """Whether it is over: whole, or wrong."""
        self._size += len(data)
        if self._size > self._most:
            return self._wrong(f"an answer of more than {self._most / 2**20:.3g} MiB")
        if self._left == _UNKNOWN:
            self._head += data
            self._read_heads()
            if self.error or self._left == _UNKNOWN:
                return bool(self.error)
            data = bytes(self._head)
        if self._left == _IN_CHUNKS:
            return self._chunks(data)
        if self._left == _UNTIL_CLOSED:
            return False
        self._left -= len(data)
        return self._wrong("it goes on behind its own end") if self._left < 0 else self._left == 0

    def closed(self) -> bool:
        """The connection was: whether that ends it, as its head said."""
        return self._left == _UNTIL_CLOSED

    def _read_heads(self) -> None:
        """Up to that of the answer: those of interim ones before it are dropped. What is left in `_head` comes behind it."""
        while (end := self._head.find(b"\r\n\r\n", self._looked)) >= 0:
            head = bytes(self._head[: end + 4])
            del self._head[: end + 4]
            self._looked = 0
            if INTERIM.match(head) is None:
                self._begin(head[:-2])
                return
            self._interim += 1
            if self._interim > _MOST_INTERIM:
                self._wrong(f"more than {_MOST_INTERIM} interim answers")
                return
        self._looked = max(0, len(self._head) - 3)
        if len(self._head) > _MOST_HEAD_BYTES:
            self._wrong(f"a head of more than {_MOST_HEAD_BYTES // 2**10} KiB")

    def _begin(self, head: bytes) -> None:
        length, status = _LENGTH.search(head), head[9:12]
        self.keeps = _CLOSES.search(head) is None
        if CHUNKED.search(head):
            self._left = _IN_CHUNKS
        elif length is None:
            self._left = 0 if status in _EMPTY else _UNTIL_CLOSED
        elif _NUMBER.fullmatch(length[1]):
            self._left = int(length[1])
        else:
            self._wrong("an answer whose length is no number")

    def _chunks(self, data: bytes) -> bool:
        """By their sizes, up to the empty one and the lines behind it: what they hold may look like an end."""
        at, end = 0, len(data)
        while at < end:
            if self._of_chunk:
                step = min(self._of_chunk, end - at)
                self._of_chunk -= step
                at += step
                continue
            line = data.find(b"\n", at)
            if line < 0:
                self._line += data[at:]
                return len(self._line) > _MOST_HEAD_BYTES and self._wrong("a chunk whose size is no number")
            size_line, self._line, at = (self._line + data[at:line]).strip(), b"", line + 1
            if self._last:
                if not size_line:
                    return self._wrong("it goes on behind its own end") if at < end else True
                continue
            size = size_line.partition(b";")[0].strip()
            if _SIZE.fullmatch(size) is None:
                return self._wrong("a chunk whose size is no number")
            self._last = int(size, 16) == 0
            self._of_chunk = 0 if self._last else int(size, 16) + 2
        return False

    def _wrong(self, error: str) -> bool:
        """What follows on this connection would be taken for the answer to the next request."""
        self.error, self.keeps = error, False
        return True

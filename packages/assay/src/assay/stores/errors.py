"""What went wrong in a database, in one sentence: from the words of its driver to an error of the harness."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree

from assay.errors import StoreError, StoreUnreachable

_BUSY = "has been held by another process for {busy_s:g} s: wait for that run to end, or name another --history"

_FULL = "cannot grow, the disk is full: free some space and resume the run; what was recorded before is kept"
_KNOWN = (
    ("not a database", "is no history of assay (not an SQLite database): move it away, or name another --history"),
    ("malformed", "is damaged: restore a copy of it, or name another --history"),
    ("disk is full", _FULL),
    ("No space left on device", _FULL),
    (
        "could not write init file",
        _FULL,
    ),  # PostgreSQL, for a new connection: it says so where a write of its own falls short
    ("disk I/O error", "cannot be written: the disk is full, or fails; free some space, or name another --history"),
    ("is locked", _BUSY),
    ("lock timeout", _BUSY),
    (
        "connection timeout expired",
        "does not answer: check the address, and that the server runs and can be reached; one that is slow has longer with "
        "?connect_timeout=30 at the end of the address",
    ),
    (
        "says nothing any more",
        "says nothing any more: see whether its server runs and can be reached; nothing that was recorded is lost",
    ),
    (
        "statement timeout",
        "takes more than two minutes to answer: ask for less, or see what else its server does",
    ),
    ("permission denied for", "does not let its user do that: ask its owner for the rights, with assay history grant"),
    ("readonly", "is read-only: make the file and its folder writable, or name another --history"),
    ("unable to open", "cannot be opened: make its folder readable and writable, or name another --history"),
)


@contextmanager
def translate_errors(name: str, *, busy_s: float = 0.0) -> Iterator[None]:
    """Turn the driver's errors, and payloads that cannot be read, into StoreError.

    `name` is how the user knows the history, without its password.
    """
    try:
        yield
    except DBAPIError as error:
        kind = StoreUnreachable if is_unreachable(error) else StoreError
        raise kind(describe(name, str(error.orig), busy_s=busy_s)) from error
    except NoneFree as error:
        raise StoreUnreachable(f"{name} is asked by too many at once, or does not answer: try again") from error
    except (msgspec.DecodeError, zlib.error) as error:
        raise StoreError(
            f"{name} holds a value that this version of assay cannot read ({error}): use the version that wrote it, or "
            "name another --history"
        ) from error


def is_unreachable(error: DBAPIError) -> bool:
    """Whether there is no server, or no connection to it any more. PostgreSQL's classes 08 and 57P: the connection failed, the server was
    ended or is starting; without a code nobody answered."""
    if error.connection_invalidated:
        return True
    code = getattr(error.orig, "sqlstate", "none")
    return isinstance(error, OperationalError) and (code is None or code.startswith(("08", "57P")))


def describe(name: str, words: str, *, busy_s: float = 0.0) -> str:
    """One line, whatever the driver said."""
    for part, text in _KNOWN:
        if part in words:
            return f"{name} {text.format(busy_s=busy_s)}"
    reason = " ".join(words.split())
    return f"{name} cannot be read or written ({reason}): check that the database is there and that you may use it"

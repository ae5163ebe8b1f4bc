"""Acts of a backend: everything that can be raised, however hard it is to put into words."""

from __future__ import annotations

import os
import warnings


class StrFails(Exception):
    """No words can be had of it."""

    def __str__(self) -> str:
        raise ValueError("no words")


class ReprFails(StrFails):
    """Not even its representation."""

    def __repr__(self) -> str:
        raise ValueError("no words")


class StrExits(Exception):
    """Whoever asks for words leaves."""

    def __str__(self) -> str:
        raise SystemExit(4)


class NodeFails(Exception):
    """It cannot say where."""

    @property
    def node(self) -> str:
        """Nothing."""
        raise ValueError("no node")


class NumberedNode(Exception):
    """Its node is a number."""

    node = 3


class Own(BaseException):
    """No `except Exception` sees it."""


def str_fails() -> None:
    """See its class."""
    raise StrFails


def repr_fails() -> None:
    """See its class."""
    raise ReprFails


def str_exits() -> None:
    """See its class."""
    raise StrExits


def unencodable() -> None:
    """A file name that is no UTF-8, as Python reads it."""
    raise RuntimeError(f"cannot read {os.fsdecode(bytes([0xFF, 0xFE]))}")


def node_fails() -> None:
    """See its class."""
    raise NodeFails("somewhere")


def node_is_no_text() -> None:
    """See its class."""
    raise NumberedNode("node of a number")


def keyboard_interrupt() -> None:
    """Nobody has pressed a key."""
    raise KeyboardInterrupt


def system_exit() -> None:
    """As a script that was meant to be a program."""
    raise SystemExit("no licence was found")


def generator_exit() -> None:
    """Not an Exception either."""
    raise GeneratorExit


def own_base_exception() -> None:
    """See its class."""
    raise Own("own")


def exception_group() -> None:
    """More than one at a time."""
    raise ExceptionGroup("two of them", [ValueError("one"), StrFails()])


def long_text() -> None:
    """Thirty megabytes of explanation."""
    raise RuntimeError("long " * 6_000_000)


def recursion() -> None:
    """Without end."""
    recursion()


def unencodable_warning() -> None:
    """A file name that is no UTF-8, as Python reads it."""
    warnings.warn(f"slow: {os.fsdecode(bytes([0xFF]))}", stacklevel=2)


def warning_str_fails() -> None:
    """A warning without words: Python asks for them where it is given."""

    class Wordless(UserWarning):
        def __str__(self) -> str:
            raise ValueError("no words")

    warnings.warn(Wordless("never seen"), stacklevel=2)


_descriptors: list[int] = []


def descriptors_exhausted() -> None:
    """Until the system says no, and that is raised."""
    while True:
        _descriptors.append(os.open(os.devnull, os.O_RDONLY))


def descriptors_exhausted_quietly() -> None:
    """Nobody hears of it here; whoever opens a file next will."""
    try:
        descriptors_exhausted()
    except OSError:
        return

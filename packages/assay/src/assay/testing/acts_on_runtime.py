"""Acts of a backend on the interpreter that no attribute of a module shows, and what else can be raised."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_held: list[object] = []


class _NamelessKind(type):
    @property
    def __name__(self) -> str:  # type: ignore[override]
        raise ValueError("no name")


class NameFails(Exception, metaclass=_NamelessKind):
    """Not even its type can be named."""


class StrHangs(Exception):
    """Whoever asks for words waits."""

    def __str__(self) -> str:
        time.sleep(3600)
        return ""


class StrLeaves(Exception):
    """Whoever asks for words is gone."""

    def __str__(self) -> str:
        leave: Callable[[int], Any] = os._exit
        return str(leave(6))


class ClassFails(Exception):
    """It does not say what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise ValueError("no class")


def name_fails() -> None:
    """See its class."""
    raise NameFails("words")


def str_hangs() -> None:
    """See its class."""
    raise StrHangs


def str_leaves() -> None:
    """See its class."""
    raise StrLeaves


def class_fails() -> None:
    """See its class."""
    raise ClassFails("words")


def caused_by_itself() -> None:
    """And by another that it has caused."""
    first, second = RuntimeError("first of a ring"), RuntimeError("second of a ring")
    first.__cause__, second.__cause__ = second, first
    first.__context__, second.__context__ = first, second
    raise first


def base_exception_group() -> None:
    """Of what no `except Exception` sees."""
    raise BaseExceptionGroup("several", [KeyboardInterrupt(), SystemExit(3)])


def enormous_text() -> None:
    """A hundred megabytes of words."""
    raise RuntimeError("words " * 17_000_000)


def notes_fail() -> None:
    """They are no texts."""
    error = RuntimeError("with notes")
    notes: Any = [object(), 5]
    error.__notes__ = notes
    raise error


def stop_iteration() -> None:
    """What ends a generator quietly, whoever it is."""
    raise StopIteration("nothing more")


def stop_async_iteration() -> None:
    """The same for another kind."""
    raise StopAsyncIteration("nothing more")


def raised_by_thread() -> None:
    """In the main thread, where it waits."""
    main = threading.main_thread().ident or 0
    raiser = threading.Timer(
        0.05,
        lambda: ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(KeyboardInterrupt)),
    )
    raiser.start()
    while raiser.is_alive():
        raiser.join(0.01)
    for _ in range(100):
        time.sleep(0.01)


def native_recursion() -> None:
    """Deeper than the stack is: the limit was taken away."""
    sys.setrecursionlimit(2**31 - 1)
    nested: list[object] = []
    for _ in range(1_000_000):
        nested = [nested]
    repr(nested)


def standard_modules_forgotten() -> None:
    """Some that everybody relies on."""
    for name in ("json", "numpy", "os", "assay.worker.dispatch"):
        sys.modules.pop(name, None)


def monitoring() -> None:
    """A tool that is told of each call."""
    tools = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    tools.use_tool_id(tools.PROFILER_ID, "acts")
    tools.register_callback(tools.PROFILER_ID, tools.events.PY_START, lambda *_: None)
    tools.set_events(tools.PROFILER_ID, tools.events.PY_START)


def audit_hook() -> None:
    """It refuses to look at processes, and cannot be taken away."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.listdir" and str(arguments[0]).startswith("/proc"):
            raise RuntimeError("refused by a hook")

    sys.addaudithook(refuse)


def audit_hook_of_c() -> None:
    """Python's own way to add one is not taken."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.py_object, ctypes.c_void_p)
    _held.append(hook := kind(lambda *_: 0))
    ctypes.pythonapi.PySys_AddAuditHook(hook, None)


def thread_stack() -> None:
    """Too small for a library that starts a thread."""
    threading.stack_size(1 << 15)


def socket_timeout() -> None:
    """For each socket that is made from here on."""
    socket.setdefaulttimeout(0.001)


def time_zone() -> None:
    """The variable is as before, and the clock is not."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before

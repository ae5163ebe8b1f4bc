"""Acts of a backend on what is below or beside the state that a program sets on purpose: patched modules, hooks, deferred effects."""

from __future__ import annotations

import _thread
import ctypes
import gc
import json
import os
import signal
import socket
import sys
import threading
import time
from importlib import import_module
from types import ModuleType
from typing import Any

_held: list[object] = []
_FE_DIVBYZERO = 4
_PR_SET_PDEATHSIG = 1


def _patch(module: Any, name: str, function: object) -> None:
    setattr(module, name, function)


def lives_on_without_driver() -> None:
    """The signal that would end it with its driver is taken back."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


def timer_of_kernel() -> None:
    """A POSIX timer, which no function of Python shows."""
    library, timer = ctypes.CDLL(None), ctypes.c_void_p()
    library.timer_create(1, None, ctypes.byref(timer))
    library.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 0, 3600, 0), None)


def alarm() -> None:
    """It ends whatever this process does then."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(3600)


def traps_division() -> None:
    """The next division by zero ends the process."""
    ctypes.CDLL("libm.so.6").feenableexcept(_FE_DIVBYZERO)


def json_patched() -> None:
    """Under another name it is the same function."""
    plain = json.dumps
    _patch(json, "dumps", lambda *arguments, **named: plain(*arguments, **named))


def socket_patched() -> None:
    """As gevent does."""
    plain = socket.socket
    _patch(socket, "socket", type("socket", (plain,), {}))


def harness_patched() -> None:
    """The function that answers for every later job."""
    module = import_module("assay.worker.dispatch")
    plain = module.execute
    _patch(module, "execute", lambda *arguments: plain(*arguments))


def own_number_patched() -> None:
    """It takes itself for another process."""
    _patch(os, "getpid", lambda: 1)


def module_replaced() -> None:
    """Whoever imports it from here on has another."""
    copy = ModuleType("json")
    vars(copy).update(vars(json))
    sys.modules["json"] = copy


def collector_calls_back() -> None:
    """Before and after each look for garbage."""
    gc.callbacks.append(lambda *_: 1 / 0)


def finalizer_raises() -> None:
    """Nobody is there to catch it."""

    class Raises:
        def __del__(self) -> None:
            raise SystemExit("finalized")

    first = Raises()
    vars(first)["itself"] = first


def switch_interval() -> None:
    """Other threads wait a minute."""
    sys.setswitchinterval(60.0)


def import_finder() -> None:
    """It is asked for every module."""

    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            return None

    sys.meta_path.insert(0, Finder)


def raw_thread() -> None:
    """The list of threads does not show it."""
    runs = threading.Event()

    def run() -> None:
        runs.set()
        time.sleep(3600)

    _thread.start_new_thread(run, ())
    runs.wait()


def thread_that_crashes_later() -> None:
    """When another job would be there."""
    threading.Thread(target=_later, args=(lambda: ctypes.string_at(0),), daemon=True).start()


def thread_that_raises_later() -> None:
    """In the thread that does the jobs."""
    main = threading.main_thread().ident
    raises = ctypes.pythonapi.PyThreadState_SetAsyncExc
    threading.Thread(
        target=_later, args=(lambda: raises(ctypes.c_ulong(main or 0), ctypes.py_object(SystemExit)),), daemon=True
    ).start()


def _later(act: Any) -> None:
    time.sleep(20.0)
    act()


def memory_file() -> None:
    """It has no name, and nobody closes it."""
    _held.append(os.memfd_create("assay-act"))

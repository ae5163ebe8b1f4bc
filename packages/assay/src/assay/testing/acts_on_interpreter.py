"""Acts of a backend on what is below or beside the state that a program sets on purpose: patched modules, hooks, deferred effects."""

from __future__ import annotations

import _thread
import ctypes
import faulthandler
import gc
import json
import os
import signal
import socket
import sys
import threading
import time
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

_held: list[object] = []
_FE_DIVBYZERO = 4
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NAME = 1, 4, 15


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


def harness_method_patched() -> None:
    """Of a class: its module shows nothing. Every later answer would be right."""
    comparator = import_module("assay.numerics.tolerance.comparator").ToleranceComparator
    plain = comparator.compare
    _patch(comparator, "compare", lambda *arguments, **named: plain(*arguments, **named))


def threading_patched() -> None:
    """As gevent does."""
    plain = threading.Lock
    _patch(threading, "Lock", lambda: plain())


def collector_keeps_all() -> None:
    """Nothing that it finds is freed."""
    gc.set_debug(gc.DEBUG_SAVEALL)


def digits_limit() -> None:
    """Longer numbers cannot be written."""
    sys.set_int_max_str_digits(1_000)


def watchdog_ends_process_later() -> None:
    """A thread of the interpreter's own, which no list shows; another job would be there."""
    faulthandler.dump_traceback_later(3.0, exit=True)


def warnings_as_errors() -> None:
    """Whatever warns from here on raises."""
    warnings.simplefilter("error")


def thread_that_raises() -> None:
    """Nobody is there to catch it."""
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()


def name_with_brackets() -> None:
    """Whoever splits the lines of the kernel at blanks reads that it has ended."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, b"a) Z 1 1 1 (", 0, 0, 0)


def not_to_be_looked_into() -> None:
    """Its files and its memory are hidden from its driver."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def ended_first_by_kernel() -> None:
    """Where memory is short."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("900")


def queue_of_kernel() -> None:
    """It watches a folder for ever."""
    library = ctypes.CDLL(None)
    _held.append(library.inotify_add_watch(library.inotify_init(), b"/", 0x100))

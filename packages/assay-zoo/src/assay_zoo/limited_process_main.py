"""The other side of `limited_process`: takes limits upon itself, then looks at one item after the other."""

from __future__ import annotations

import importlib
import math
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from assay_zoo.limited_process import LAST, Ending, Looked, Work


def main() -> None:
    """One line for being up, then one for each item."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what native code prints is no answer
    work = msgspec.json.decode(sys.stdin.buffer.read(), type=Work)
    module, _, name = work.target.partition(":")
    function: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    memory_bytes = _limit(work)
    _say(answers, b"{}")
    for item in work.items:
        ending, line = _answer(work, memory_bytes, function, item)
        _say(answers, line)
        if ending in LAST:
            os._exit(0)
    os._exit(0)


def _answer(work: Work, memory_bytes: int, function: Callable[[Any], Any], item: Any) -> tuple[Ending, bytes]:
    """What fails here is ours, and blames no file."""
    try:
        _allow(work.seconds)
        looked = _look(function, item)
        if looked.ending is Ending.OUT_OF_MEMORY and memory_bytes < work.memory_bytes:
            sentence = (
                f"opening it needs more than the {memory_bytes} bytes of address space that this machine allows, and it may have "
                f"{work.memory_bytes}: raise the hard limit of the machine (ulimit -H -v)"
            )
            looked = Looked(ending=Ending.HARNESS, sentence=sentence)
        return looked.ending, msgspec.json.encode(looked)
    except Exception as error:  # noqa: BLE001 - told to the driver
        sentence = f"the process that opens files failed, not the file: {_words(error)}"
        return Ending.HARNESS, msgspec.json.encode(Looked(ending=Ending.HARNESS, sentence=sentence))


def _look(function: Callable[[Any], Any], item: Any) -> Looked:
    try:
        return Looked(ending=Ending.OK, value=msgspec.Raw(msgspec.json.encode(function(item))))
    except MemoryError:
        return Looked(ending=Ending.OUT_OF_MEMORY, sentence="opening it needs more memory than is allowed")
    except RecursionError:
        return Looked(ending=Ending.NESTED, sentence="it is nested too deeply to be read")
    except Exception as error:  # noqa: BLE001 - told to the driver, which decides whose fault it is
        return Looked(ending=Ending.ERROR, sentence=_words(error))


def _words(error: Exception) -> str:
    """Names of files may hold what no text can."""
    return f"{type(error).__name__}: {error}"[:500].encode(errors="backslashreplace").decode()


def _limit(work: Work) -> int:
    """How much memory it may have: what it is told, or less where the machine allows less."""
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, work.written_bytes)
    return _set(resource.RLIMIT_AS, work.memory_bytes)


def _allow(seconds: float) -> None:
    """So much of a processor from now on."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    _set(resource.RLIMIT_CPU, math.ceil(spent.ru_utime + spent.ru_stime + seconds))


def _set(what: int, most: int) -> int:
    """The limit that holds from now on. The hard one stays as it is: an ordinary user cannot raise it again (setrlimit(2))."""
    hard = resource.getrlimit(what)[1]
    given = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (given, hard))
    return given


def _say(descriptor: int, line: bytes) -> None:
    data = memoryview(line + b"\n")
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main()

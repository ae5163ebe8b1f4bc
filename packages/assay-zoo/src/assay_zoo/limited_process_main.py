"""The other side of `limited`: takes limits upon itself, then looks at one item after the other."""

from __future__ import annotations

import importlib
import math
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from assay_zoo.limited_process import Ending, Looked, Work


def main() -> None:
    """One line for being up, then one for each item."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what native code prints is no answer
    work = msgspec.json.decode(sys.stdin.buffer.read(), type=Work)
    module, _, name = work.target.partition(":")
    function: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    _limit(work)
    _say(answers, b"{}")
    for item in work.items:
        _allow(work.seconds)
        found = _look(function, item)
        _say(answers, msgspec.json.encode(found))
        if found.ending is Ending.OUT_OF_MEMORY:
            os._exit(0)  # what is left of the heap is not to be trusted
    os._exit(0)


def _look(function: Callable[[Any], Any], item: Any) -> Looked:
    try:
        return Looked(ending=Ending.OK, value=function(item))
    except MemoryError:
        return Looked(ending=Ending.OUT_OF_MEMORY, sentence="opening it needs more memory than is allowed")
    except RecursionError:
        return Looked(ending=Ending.NESTED, sentence="it is nested too deeply to be read")
    except Exception as error:  # noqa: BLE001 - told to the driver, which decides whose fault it is
        return Looked(ending=Ending.ERROR, sentence=f"{type(error).__name__}: {error}"[:500])


def _limit(work: Work) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (work.written_bytes, work.written_bytes))
    resource.setrlimit(resource.RLIMIT_AS, (work.memory_bytes, work.memory_bytes))


def _allow(seconds: float) -> None:
    """So much of a processor from now on."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(
        resource.RLIMIT_CPU, (math.ceil(spent.ru_utime + spent.ru_stime + seconds), resource.RLIM_INFINITY)
    )


def _say(descriptor: int, line: bytes) -> None:
    data = memoryview(line + b"\n")
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main()

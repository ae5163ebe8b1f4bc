"""How many times slower this machine is than the one that time limits are meant for: a limit stands for work.

Three loops of the interpreter's own C code, some milliseconds each, in processor time: that others have the cores changes little.
The least of some turns counts, and the least that was ever seen is kept for this machine, so that a busy moment does not stay.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from assay.errors import UsageError

REFERENCE_S: Mapping[str, float] = {"sort": 6.0e-3, "power": 6.5e-3, "loop": 4.4e-3}
"""On a core of an AMD EPYC (2026, CPython 3.11): there a limit is what it says."""
LEAST = 1.25
"""Slower by less than this is not slower: the figure is no better than that."""
LONGEST = 8.0
"""A machine that seems slower still is measured wrongly, or hangs."""
TURNS = 5


@cache
def times_slower() -> float:
    """1.0 on the reference, and on all that is faster: a limit that somebody gave is never shortened. 2.5 where the same work takes two and
    a half times as long."""
    return limit_scale(min(measured(), _kept()))


def limit_scale(slower: float) -> float:
    """What a limit is multiplied by, rounded up to tenths: the same from run to run."""
    return 1.0 if slower < LEAST else min(math.ceil(10 * slower - 1e-9) / 10, LONGEST)


def measured() -> float:
    """The geometric mean of the three, now. It takes some 100 ms of a core, and is written down where it is less than what is kept."""
    values = [float((index * 7919) % 10007) for index in range(20000)]
    base, modulus = pow(3, 4000) >> 5600, (1 << 2203) - 1
    loops: dict[str, Callable[[], object]] = {
        "sort": lambda: [sorted(values) for _ in range(10)],
        "power": lambda: pow(7, base, modulus),
        "loop": lambda: sum((index * index) & 0xFFFF for index in range(120_000)),
    }
    ratios = [min(_seconds(loop) for _ in range(TURNS)) / REFERENCE_S[name] for name, loop in loops.items()]
    ratio = math.prod(ratios) ** (1 / len(ratios))
    _keep(ratio)
    return ratio


def _seconds(loop: Callable[[], object]) -> float:
    begun = time.thread_time()
    loop()
    return time.thread_time() - begun


def _file() -> Path:
    from assay.models.files import user_cache

    return user_cache() / "machine-speed.json"


def _machine() -> str:
    """A home may be shared by several machines."""
    return f"{platform.node()}, {platform.machine()}, Python {platform.python_version()}"


def _all_kept() -> dict[str, float]:
    try:
        return msgspec.json.decode(_file().read_bytes(), type=dict[str, float])
    except (OSError, UsageError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _kept() -> float:
    return _all_kept().get(_machine(), math.inf)


def _keep(slower: float) -> None:
    """A file that cannot be written costs the next measurement."""
    known = _all_kept()
    if known.get(_machine(), math.inf) <= slower:
        return
    with contextlib.suppress(OSError, UsageError):
        staged = _file().with_name(f".{_file().name}.{os.getpid()}")
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_bytes(msgspec.json.encode({**known, _machine(): round(slower, 3)}))
        staged.replace(_file())

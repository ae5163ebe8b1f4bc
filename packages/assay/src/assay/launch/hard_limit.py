"""A mark that a process cannot take off: a hard limit of its own number, which all that descends from it inherits.

Variables can be emptied, and a session left. A hard limit goes with fork(2) and exec(2), and no ordinary user can raise it again. It is
that of the processor time of real-time tasks, in microseconds, and so large that it limits nothing.
"""

from __future__ import annotations

import os
import resource
import secrets
from contextlib import suppress
from functools import cache

_LARGEST = 1 << 62
_NUMBERS = 1 << 40
_LEAST = 1 << 50
"""What is left of it must not limit anything: 35 years."""
_NAME = b"Max realtime timeout"


@cache
def _number() -> int:
    """Of this driver; 0 where its own limit leaves no room. Below its own: a driver may be a descendant of another's worker."""
    hard = resource.getrlimit(resource.RLIMIT_RTTIME)[1] if hasattr(resource, "RLIMIT_RTTIME") else 0
    largest = _LARGEST if hard == resource.RLIM_INFINITY else hard
    return largest - 1 - secrets.randbelow(_NUMBERS) if largest > _LEAST + _NUMBERS else 0


def mark(pid: int) -> None:
    """That process and all that it starts from now on."""
    if _number():
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_RTTIME, (_number(), _number()))


def is_marked(pid: int) -> bool:
    """Whether that process descends from one that this driver has marked."""
    with suppress(OSError), open(f"/proc/{pid}/limits", "rb") as file:
        for line in file:
            if line.startswith(_NAME):
                return bool(_number()) and str(_number()).encode() in line[len(_NAME) :].split()
    return False


os.register_at_fork(after_in_child=_number.cache_clear)

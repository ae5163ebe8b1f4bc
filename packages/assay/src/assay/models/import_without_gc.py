"""Importing a large library without looking for garbage meanwhile."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_own: list[bool] = []


def own_process() -> None:
    """This process has no other purpose: what is imported from here on is never looked through for garbage."""
    _own[:] = [True]


@contextmanager
def import_without_gc() -> Iterator[None]:
    """What an import makes stays: the collector would go through all of it again and again, a fifth of the time (torch 2.13,
    executorch 1.4)."""
    collecting, known = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if _own and len(sys.modules) > known:
            gc.freeze()
        if collecting:
            gc.enable()

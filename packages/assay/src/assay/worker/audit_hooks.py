"""Audit hooks that a job adds: none can be taken away, and nothing shows them. They are counted where they are added."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_added: list[Callable[[str, tuple[Any, ...]], Any]] = []
_add = sys.addaudithook


def _counted(hook: Callable[[str, tuple[Any, ...]], Any]) -> None:
    _added.append(hook)
    _add(hook)


def count_hooks() -> None:
    """From here on, in this process."""
    sys.addaudithook = _counted


def added_hooks() -> int:
    """How many have been added since then, by Python code."""
    return len(_added)

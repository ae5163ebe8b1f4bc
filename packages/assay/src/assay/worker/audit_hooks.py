"""Audit hooks that a job adds: none can be taken away, and nothing shows them. But each that is there is told of the next one (PEP 578),
whether it comes from Python or from C: ours counts them."""

from __future__ import annotations

import sys
from typing import Any

_added: list[None] = []


def _hear(event: str, _: tuple[Any, ...]) -> None:
    if event == "sys.addaudithook":
        _added.append(None)


def count_hooks() -> None:
    """From here on, in this process."""
    sys.addaudithook(_hear)


def added_hooks() -> int:
    """How many have been added since then."""
    return len(_added)

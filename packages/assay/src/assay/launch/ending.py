"""What ends while the command goes on. The process waits for it at its end by itself, as its thread is no daemon."""

from __future__ import annotations

import threading
from collections.abc import Callable

_ENDING: list[threading.Thread] = []


def end_meanwhile(action: Callable[[], None]) -> None:
    thread = threading.Thread(target=action, name="ending")
    thread.start()
    _ENDING.append(thread)


def wait_for_ends() -> None:
    """Before the same is begun again, and before whoever has called Assay from Python may begin it."""
    while _ENDING:
        _ENDING.pop().join()

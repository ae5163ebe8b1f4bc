"""How much work SQLite does for a question: what does not depend on the machine's load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import event

from assay.stores.sql import SqlStore

Answer = TypeVar("Answer")


def steps(store: SqlStore, ask: Callable[[], Answer]) -> tuple[int, Answer]:
    """Steps of SQLite's virtual machine, in hundreds, and the answer."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    def watch(connection: Any, *_: Any) -> None:
        connection.set_progress_handler(step, 100)

    event.listen(store.engine, "checkout", watch)
    try:
        answer = ask()
    finally:
        event.remove(store.engine, "checkout", watch)
    assert count, "no step was counted: the question is asked on another connection"
    return count, answer

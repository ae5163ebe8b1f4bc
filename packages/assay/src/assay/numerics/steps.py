"""Where a long evaluation says how far it is, to whoever listens in this thread: nobody, unless a worker does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import msgspec

from assay.core.step import UNKNOWN, Step

T = TypeVar("T")
Listener = Callable[[Step], None]


class _Heard:
    """The listener, and the last step that it was told."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.last = UNKNOWN

    def tell(self, step: Step) -> None:
        self.last = step
        self._listener(step)


_heard: ContextVar[_Heard | None] = ContextVar("steps", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside, `listener` is told every step as it begins. It must not raise."""
    token = _heard.set(_Heard(listener))
    try:
        yield
    finally:
        _heard.reset(token)


def at_sample(sample: int, samples: int) -> None:
    """The first is 1."""
    if (heard := _heard.get()) is not None:
        heard.tell(Step(sample, samples))


def at_draw(draw: int, draws: int) -> None:
    """Of the sample in hand. The first is 1."""
    if (heard := _heard.get()) is not None:
        heard.tell(msgspec.structs.replace(heard.last, draw=draw, draws=draws))


def each_sample(samples: Sequence[T], of: int = 0) -> Iterable[T]:
    """The same one after the other, each told as it begins, of `of` (0: of as many as these are)."""
    for number, sample in enumerate(samples, 1):
        at_sample(number, of or len(samples))
        yield sample

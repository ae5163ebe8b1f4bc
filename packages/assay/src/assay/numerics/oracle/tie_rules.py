"""Ties that an evaluation rounds by another rule than half to even, at chosen operators.

A backend that rounds otherwise does so in the same way each time. Its answer can be evaluated as well, then: the value is moved off the
tie, to the side that the rule takes, before it is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from assay.ports import Tensor

Rules = Mapping[tuple[str, ...], str]
"""By what an operator gives: the name of the rule by which it rounds its ties. Operators that are not named round half to even."""
_OFF = 0.25
"""Of a step: how far a value is moved off its tie."""


def _even_after(steps: Tensor, zero: Tensor) -> Tensor:
    return np.asarray(np.rint(steps + zero) - zero)


def _away(steps: Tensor, zero: Tensor) -> Tensor:
    del zero
    return np.asarray(np.copysign(np.floor(np.abs(steps) + 0.5), steps))


def _away_after(steps: Tensor, zero: Tensor) -> Tensor:
    return np.asarray(_away(steps + zero, zero) - zero)


ROUNDED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "even-after-zero-point": _even_after,
    "away": _away,
    "away-after-zero-point": _away_after,
}
"""Whole numbers that a rule gives, of values in steps and the zero point, which is not added to them."""
_CURRENT: ContextVar[Rules] = ContextVar("rules")


def otherwise(steps: Tensor, zero: Tensor, rule: str) -> Tensor:
    """-1 or 1 where the rule rounds a tie down or up and half to even does not, 0 elsewhere."""
    tie = steps - np.floor(steps) == 0.5
    with np.errstate(all="ignore"):
        moved = ROUNDED[rule](steps, np.asarray(zero, steps.dtype)) - np.rint(steps)
    return np.where(tie, moved, steps.dtype.type(0))


@contextmanager
def ties_by(rules: Rules) -> Iterator[None]:
    """Every evaluation inside rounds ties so."""
    token = _CURRENT.set(rules)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def off_ties(outputs: tuple[str, ...], steps: Tensor, zero: Tensor | float) -> Tensor:
    """The values that the operator which gives `outputs` is about to round half to even, so that this gives what its rule does."""
    rule = _CURRENT.get({}).get(outputs)
    if rule is None:
        return steps
    return np.asarray(steps + steps.dtype.type(_OFF) * otherwise(steps, np.asarray(zero), rule))

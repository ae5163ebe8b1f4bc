"""Noise that passes through a rounding: it is seen rarely, and then it is a whole step.

A value next to the boundary of a step falls to either side of it, and everything behind follows. In eight draws many
elements that could jump never do: their variance is that of a smooth computation by luck, not by nature. Two questions are
asked of further evaluations, each in pairs of opposite sign, so that whatever one leaves in its place the other moves:

shaken   what lies next to a boundary, and what follows from it, moved by a few steps: which elements can jumps reach?
tipped   noise `TIPPING` times as large: what happens where a value lies that near to a boundary?

Neither says how often a correct engine tips. That stays with the draws of true size: one that tips much more often is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from assay.numerics.oracle.hooks import Call, Hook, Values
from assay.numerics.tolerance.rules.rounding_sites import RoundingSite
from assay.ports import Tensor, Tensors

TIPPING = 8.0
"""Standard deviations from a boundary: what decides a step may lie so far off (as `discrete.MARGIN`)."""
BEYOND = 16.0
"""Standard deviations, of noise as large as theirs: no smooth computation of a tipped evaluation errs by more."""
RARELY = 4.0
"""Standard deviations that draws which saw few elements move say nothing of beyond."""
FEW = 64
"""Noisy elements of all draws together."""
_LEAST, _MOST = 2.0, 8.0
"""Steps that a shaken value moves."""
_BOUNDARY: dict[str, tuple[float, Callable[[Tensor], Tensor]]] = {
    "Ceil": (0.0, np.ceil),
    "Floor": (0.0, np.floor),
    "Round": (0.5, np.rint),
}
"""Where between two whole numbers these step, and where to; what is put on a grid goes as Round does."""
_CLOSE = 2.0**-20
"""What evaluations in single precision differ by."""

Wide = np.ndarray[Any, np.dtype[np.float64]]


class Exact:
    """What one value was before it stepped, in the evaluation without noise. `deviation` is that of the noise of each element, in
    steps: one of an element at which every engine has the same value is 0, and no tie of it is open. None: as everywhere."""

    def __init__(self, value: Tensor, operator: str) -> None:
        self.value = value
        self.deviation: Tensor | None = None
        self._boundary, self.stepped = _BOUNDARY.get(operator, _BOUNDARY["Round"])
        self._near: tuple[float, Tensor] | None = None

    def at_most(self, deviation: float) -> Any:
        """The deviation of each element, where it is known to be less than that."""
        return deviation if self.deviation is None else np.minimum(self.deviation, deviation)

    def near(self, steps: float) -> Tensor:
        """Which elements lie `TIPPING` deviations from a boundary, of as many steps at most."""
        if self._near is None or self._near[0] != steps:
            above = self.value - self._boundary
            share = above - np.rint(above)
            deviation = self.at_most(steps)
            near = np.abs(share) <= TIPPING * deviation + 2.0**-22 * np.abs(self.value)
            self._near = steps, np.asarray(near & (np.asarray(deviation) > 0.0))
        return self._near[1]

    def other(self, value: Tensor, steps: Any) -> Tensor:
        """Which elements of another evaluation have moved by more than that."""
        if not self._is_finite:
            return ~np.isclose(value, self.value, rtol=_CLOSE, atol=steps, equal_nan=True)
        return np.asarray(~(np.abs(value - self.value) <= steps + _CLOSE * np.abs(self.value)))

    @cached_property
    def _is_finite(self) -> bool:
        """Then what takes a tenth of the time of `numpy.isclose` says the same."""
        return math.isfinite(self.value.sum())


class StepRecorder(Hook):
    """Keeps, past another probe, what an evaluation is about to round to whole numbers: `found`, by what the operator gives."""

    def __init__(self, other: Hook, places: Callable[[tuple[str, ...]], Sequence[RoundingSite]] | None = None) -> None:
        """`places` gives those before a grid that are known of an operator, by what it gives."""
        self._other, self._places = other, places
        self.found: dict[tuple[str, ...], list[Exact]] = {}

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        if kind == "steps":
            self._keep(value, call)
        return self._other.site(kind, value, call, operands)

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        if call.operator in _BOUNDARY:
            self._keep(np.asarray(call.inputs[0]), call)
        return self._other.node(call, results, again)

    def answer(self, call: Call, results: Values) -> Values:
        answers = self._other.answer(call, results)
        places = self._places(call.outputs) if self._places is not None else ()
        for exact, place in zip(self.found.get(call.outputs, ()), places, strict=False):
            exact.deviation = np.zeros((), np.float32) if place.deviation is None else place.deviation
        return answers

    def _keep(self, value: Tensor, call: Call) -> None:
        self.found.setdefault(call.outputs, []).append(Exact(value, call.operator))


class StepReplay(Hook):
    """An evaluation in which values are moved before they step. `exact` is what `StepRecorder` found without."""

    def __init__(self, exact: Mapping[tuple[str, ...], Sequence[Exact]]) -> None:
        self._exact = exact
        self._next: dict[tuple[str, ...], int] = {}

    def expected(self, call: Call) -> Exact | None:
        """What is to come next there; None beyond what was found."""
        exact, number = self._exact.get(call.outputs, ()), self._next.get(call.outputs, 0)
        return exact[number] if number < len(exact) else None

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        del operands
        return self.moved(value, self._take(value, call)) if kind == "steps" else value

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        del again
        if call.operator not in _BOUNDARY:
            return results
        value = np.asarray(call.inputs[0])
        return (self.stepped(value, self._take(value, call)), *results[1:])

    def _take(self, value: Tensor, call: Call) -> Exact:
        expected = self.expected(call)
        self._next[call.outputs] = self._next.get(call.outputs, 0) + 1
        return expected or Exact(value, call.operator)

    def moved(self, value: Tensor, exact: Exact) -> Tensor:
        """Before an operator puts it on its grid."""
        raise NotImplementedError

    def stepped(self, value: Tensor, exact: Exact) -> Tensor:
        """What Ceil, Floor or Round make of it."""
        raise NotImplementedError


class HalfStep(StepReplay):
    """Every value that lies within `TIPPING` standard deviations (in steps) of a boundary, and every one that such a value has
    changed by more than one of them (what changed by less can only step where it lies near), moved by some steps: turns 1 and 2,
    3 and 4 ... move by the same numbers, the other way round."""

    def __init__(
        self, exact: Mapping[tuple[str, ...], Sequence[Exact]], seed: tuple[int, ...], deviation: float, turn: int
    ) -> None:
        super().__init__(exact)
        self._moved = deviation
        self._turned = turn % 2 == 0
        self._random = np.random.Generator(np.random.SFC64((*seed, (turn - 1) // 2)))

    def moved(self, value: Tensor, exact: Exact) -> Tensor:
        return value + self._moves(value, exact)

    def stepped(self, value: Tensor, exact: Exact) -> Tensor:
        return np.asarray(exact.stepped(value) + np.rint(self._moves(value, exact)))

    def _moves(self, value: Tensor, exact: Exact) -> Tensor:
        """By how many steps. What came back to where it was by chance would pass for unreached: it goes one further."""
        signed = np.asarray(self._random.random(value.shape, np.float32)) - np.float32(0.5)
        steps = np.float32(2 * (_MOST - _LEAST)) * np.abs(signed) + np.float32(_LEAST)
        down: Tensor = np.asarray((signed < 0) == self._turned)
        with np.errstate(all="ignore"):
            reached: Tensor = exact.near(self._moved)
            if is_like := exact.value.shape == value.shape:
                reached = reached | exact.other(value, exact.at_most(self._moved))
            moves: Tensor = np.where(reached, np.where(down, -steps, steps), 0.0)
            if is_like:
                back = np.asarray(reached & (exact.stepped(value + moves) == exact.stepped(exact.value)))
                moves[back] += np.where(down[back], -1.0, 1.0)
        return np.asarray(moves, value.dtype)


class LargestJump:
    """The largest error that evaluations show at each element of the real values called as in `base`."""

    def __init__(self, base: Tensors) -> None:
        self._base = base
        self._found = {
            name: np.zeros(value.shape, np.float32) for name, value in base.items() if value.dtype.kind == "f"
        }

    def add(self, other: Tensors) -> None:
        """One evaluation. A value that has another shape in it says nothing."""
        for name, largest in self._found.items():
            if other[name].shape == largest.shape:
                with np.errstate(all="ignore"):
                    error = np.abs(other[name] - self._base[name])
                np.maximum(largest, np.where(np.isfinite(error), error, 0.0), out=largest, casting="same_kind")

    def margins(self, kind: str) -> dict[str, Tensor]:
        """`NAME/kind` of each."""
        return {f"{name}/{kind}": largest for name, largest in self._found.items()}


def level(variance: Wide, shaken: Wide) -> Wide:
    """The variance that an element has by nature, to tell orders of noise by: one that only luck kept still is as noisy as
    its like."""
    result: Wide = np.maximum(variance, np.square(shaken / _MOST))
    return result


def least(shaken: Wide) -> float:
    """What one step makes of the least of the elements that shaken evaluations reach; 0 where they reach none."""
    return float(shaken.min(where=shaken > 0.0, initial=np.inf)) / _LEAST if shaken.any() else 0.0


def unseen(variance: Wide, tipped: Wide, draws: int) -> Wide:
    """How far a jump carries an element whose variance knows of none, 0 elsewhere. Where the noise of all lies in a few elements, so
    many draws have seen what is frequent alone: any jump beyond the limit of an element is news then."""
    known = RARELY if draws * spread_over(variance) < FEW else TIPPING * BEYOND
    result: Wide = np.where(tipped > known * np.sqrt(variance), tipped, 0.0)
    return result


def spread_over(weights: Tensor) -> float:
    """Over how many elements something lies: as many as there are where all have the same (the inverse participation ratio)."""
    total = float(np.sum(weights))
    return total * (total / float(np.sum(np.square(weights)))) if total > 0.0 else 0.0

"""Noise that passes through a rounding: it is seen rarely, and then it is a whole step.

A value next to the boundary of a step falls to either side of it, and everything behind follows. In eight draws many
elements that could jump never do: their variance is that of a smooth computation by luck, not by nature. Two questions are
asked of further evaluations, each in pairs of opposite sign, so that whatever one leaves in its place the other moves:

shaken   what lies next to a boundary, and what follows from it, moved by a few steps: which elements can jumps reach?
tipped   noise `TIPPING` times as large: what happens where a value lies that near to a boundary?

Neither says how often a correct engine tips. That stays with the draws of true size: one that tips much more often is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from assay.numerics.oracle.probe import Call, Probe, Values
from assay.ports import Tensor, Tensors

TIPPING = 8.0
"""Standard deviations from a boundary: what decides a step may lie so far off (as `discrete.MARGIN`)."""
BEYOND = 16.0
"""Standard deviations, of noise as large as theirs: no smooth computation of a tipped evaluation errs by more."""
_LEAST, _MOST = 2.0, 8.0
"""Steps that a shaken value moves."""
_BOUNDARY: dict[str, tuple[float, Callable[[Tensor], Tensor]]] = {
    "Ceil": (0.0, np.ceil),
    "Floor": (0.0, np.floor),
    "Round": (0.5, np.rint),
}
"""Where between two whole numbers these step, and where to."""

Wide = np.ndarray[Any, np.dtype[np.float64]]


class Shake(Probe):
    """Every value that lies within `TIPPING` standard deviations (in steps) of a boundary, and every one that such a value has
    changed, moved by some steps. The first evaluation only records; later ones move, the other way round each time."""

    def __init__(self, seed: tuple[int, ...], deviation: float) -> None:
        self._seed = seed
        self._near = TIPPING * deviation
        self._exact: list[Tensor] = []
        self._turn = -1
        self.again()

    def again(self) -> None:
        """Before every evaluation."""
        self._turn += 1
        self._place = 0
        self._random = np.random.Generator(np.random.SFC64((*self._seed, self._turn // 2)))

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        del call, operands
        return value + self._moved(value, *_BOUNDARY["Round"]) if kind == "steps" else value

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        del again
        if call.operator not in _BOUNDARY:
            return results
        moved = np.rint(self._moved(np.asarray(call.inputs[0]), *_BOUNDARY[call.operator]))
        return (np.asarray(results[0]) + moved, *results[1:])

    def _moved(self, value: Tensor, boundary: float, stepped: Callable[[Tensor], Tensor]) -> Tensor:
        """By how many steps. What came back to where it was by chance would pass for unreached: it goes one further."""
        if not self._turn:
            self._exact.append(np.array(value))
            return np.zeros_like(value)
        exact = self._exact[self._place] if self._place < len(self._exact) else value
        self._place += 1
        steps = self._random.uniform(_LEAST, _MOST, value.shape)
        sign = np.where((self._random.random(value.shape) < 0.5) == (self._turn % 2 == 0), -1.0, 1.0)
        with np.errstate(all="ignore"):
            share = exact - boundary - np.rint(exact - boundary)
            reached = np.abs(share) <= self._near + 2.0**-22 * np.abs(exact)
            if exact.shape == value.shape:
                reached = reached | ~np.isclose(value, exact, rtol=1e-9, atol=1e-9, equal_nan=True)
            moved = np.where(reached, steps * sign, 0.0)
            if exact.shape == value.shape:
                moved = np.where(reached & (stepped(value + moved) == stepped(exact)), moved + sign, moved)
        return np.asarray(moved, value.dtype)


class Largest:
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


def unseen(variance: Wide, tipped: Wide) -> Wide:
    """How far a jump carries an element whose variance knows of none, 0 elsewhere."""
    result: Wide = np.where(tipped > TIPPING * BEYOND * np.sqrt(variance), tipped, 0.0)
    return result

"""What noisy evaluations differ by from the exact one: deviations of real values, ranges of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.note import Note, NoteCode, noted
from assay.numerics.tolerance.judge.slices import PSEUDO_DRAWS
from assay.numerics.tolerance.judge.statistics import statistics
from assay.ports import Tensor, Tensors

MOST_LOST = 0.5
"""Of the finite elements of a value: where more than these are never finite with noise, nothing is known of its noise."""


@dataclass(frozen=True)
class Unstable:
    """Why nothing is known of the noise of a value. `shapes`: two that it had, where how many rows there are (boxes that suppress each
    other) is decided by noise; empty for any other reason."""

    why: Note
    shapes: tuple[tuple[int, ...], ...] = ()


def of_another_shape(first: tuple[int, ...], other: tuple[int, ...]) -> Unstable:
    """A value that has both shapes."""
    return Unstable(noted(NoteCode.SHAPE_BY_ROUNDING, first=first, second=other), (first, other))


class Spread:
    """Of the values called as in `base`; `unstable` are those whose shape depends on rounding, or that noise makes NaN or
    infinite."""

    def __init__(self, base: Tensors) -> None:
        self._squares = {name: np.zeros(value.shape) for name, value in base.items() if value.dtype.kind == "f"}
        self._lowest = {name: value for name, value in base.items() if value.dtype.kind in "biu"}
        self._highest = dict(self._lowest)
        self._lost = {name: np.isfinite(base[name]) for name in self._squares}
        self._draws = 0
        self.unstable: dict[str, Unstable] = {}

    def add(self, noisy: Tensors, base: Tensors, amplified: float) -> None:
        """One evaluation, its noise amplified so many times."""
        self._draws += 1
        for name, value in noisy.items():
            if value.shape != base[name].shape:
                self.unstable[name] = of_another_shape(base[name].shape, value.shape)
            elif name in self._squares:
                with np.errstate(all="ignore"):
                    error = value.astype(np.float64) - base[name]
                finite = np.isfinite(error)
                self._lost[name] = self._lost[name] & ~finite
                self._squares[name] += np.square(np.where(finite, error, 0.0) / amplified)
            elif name in self._lowest:
                self._lowest[name] = np.minimum(self._lowest[name], value)
                self._highest[name] = np.maximum(self._highest[name], value)

    def note_lost(self, base: Tensors) -> None:
        """Once all evaluations were added: a value without a deviation because noise leaves no number of it is `unstable`."""
        for name, lost in self._lost.items():
            share = int(lost.sum()) / max(1, int(np.isfinite(base[name]).sum()))
            if self._draws and share > MOST_LOST:
                lost_numbers = Unstable(noted(NoteCode.LOST_TO_NOISE, share=share))
                self.unstable.setdefault(name, lost_numbers)

    def deviations(self) -> dict[str, Tensor]:
        """Standard deviations of the real ones."""
        draws = max(1, self._draws)
        return {name: np.sqrt(square / draws).astype(np.float32) for name, square in self._squares.items()}

    def ranges(self) -> dict[str, Tensor]:
        """`NAME/low` and `NAME/high` of the whole numbers, in their own type: float64 has not every one beyond 2**53."""
        limits = {}
        for name in self._lowest:
            limits[f"{name}/low"] = np.asarray(self._lowest[name])
            limits[f"{name}/high"] = np.asarray(self._highest[name])
        return limits

    def is_continued(self, noisy: Tensors, exact: Tensors, names: Sequence[str], amplified: float = 1.0) -> bool:
        """Whether one more evaluation, its noise amplified so many times, lies where those before lead one to expect it: within
        half of every limit."""
        deviations = self.deviations()
        for name in names:
            if name not in deviations or noisy[name].shape != exact[name].shape:
                continue
            with np.errstate(all="ignore"):
                error = (noisy[name] - exact[name]) / amplified
            finite = np.isfinite(error)
            variance = np.where(finite, np.square(deviations[name].astype(np.float64)), 0.0)
            floor = np.zeros(error.shape)
            statistic = statistics(
                [np.where(finite, error, 0.0)], [variance], [floor], self._draws, kept=1, smooth=False
            )
            if not statistic.budgets["budget_used"] <= 0.5:
                return False
        return True


def shrunk_deviation(deviation: Tensor, draws: int) -> Tensor:
    """The standard deviation with the mean variance as nu pseudo-draws, as the statistics use it."""
    variance = np.square(deviation.astype(np.float64))
    if not variance.size:
        return variance
    result: Tensor = np.sqrt((draws * variance + PSEUDO_DRAWS * variance.mean()) / (draws + PSEUDO_DRAWS))
    return result

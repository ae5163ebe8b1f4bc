"""What noisy evaluations differ by from the exact one: deviations of real values, ranges of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.tolerance.statistics import PSEUDO_DRAWS, statistics
from assay.ports import Tensor, Tensors


class Spread:
    """Of the values called as in `base`; `unstable` are those whose shape depends on rounding, with a sentence."""

    def __init__(self, base: Tensors) -> None:
        self._squares = {name: np.zeros(value.shape) for name, value in base.items() if value.dtype.kind == "f"}
        self._lowest = {name: value for name, value in base.items() if value.dtype.kind in "biu"}
        self._highest = dict(self._lowest)
        self._draws = 0
        self.unstable: dict[str, str] = {}

    def add(self, noisy: Tensors, base: Tensors, amplified: float) -> None:
        """One evaluation, its noise amplified so many times."""
        self._draws += 1
        for name, value in noisy.items():
            if value.shape != base[name].shape:
                self.unstable[name] = f"its shape depends on rounding ({base[name].shape} or {value.shape})"
            elif name in self._squares:
                with np.errstate(all="ignore"):
                    error = value.astype(np.float64) - base[name]
                error = np.where(np.isfinite(error), error, 0.0)
                self._squares[name] += np.square(error / amplified)
            elif name in self._lowest:
                self._lowest[name] = np.minimum(self._lowest[name], value)
                self._highest[name] = np.maximum(self._highest[name], value)

    def deviations(self) -> dict[str, Tensor]:
        """Standard deviations of the real ones."""
        draws = max(1, self._draws)
        return {name: np.sqrt(one / draws).astype(np.float32) for name, one in self._squares.items()}

    def ranges(self) -> dict[str, Tensor]:
        """`NAME/low` and `NAME/high` of the whole numbers."""
        found = {}
        for name in self._lowest:
            found[f"{name}/low"] = np.asarray(self._lowest[name], np.float64)
            found[f"{name}/high"] = np.asarray(self._highest[name], np.float64)
        return found

    def is_continued(self, noisy: Tensors, exact: Tensors, names: Sequence[str]) -> bool:
        """Whether one more evaluation lies where those before lead one to expect it: within half of every limit."""
        deviations = self.deviations()
        for name in names:
            if name not in deviations or noisy[name].shape != exact[name].shape:
                continue
            with np.errstate(all="ignore"):
                error = noisy[name] - exact[name]
            finite = np.isfinite(error)
            variance = np.where(finite, np.square(deviations[name].astype(np.float64)), 0.0)
            found = statistics([np.where(finite, error, 0.0)], [variance], [np.zeros(error.shape)], self._draws)
            if not found.budgets["budget_used"] <= 0.5:
                return False
        return True


def shrunk_deviation(deviation: Tensor, draws: int) -> Tensor:
    """The standard deviation with the mean variance as nu pseudo-draws, as the statistics use it."""
    variance = np.square(deviation.astype(np.float64))
    if not variance.size:
        return variance
    result: Tensor = np.sqrt((draws * variance + PSEUDO_DRAWS * variance.mean()) / (draws + PSEUDO_DRAWS))
    return result

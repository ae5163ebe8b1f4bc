"""The statistic of slices: whether one index of one axis is off as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.tolerance.judge.noise_clusters import Wide
from assay.ports import Tensor

SLICE_LIMIT = 6.0
PSEUDO_DRAWS = 4.0
FEWEST = 4
"""Elements of a slice."""


def largest_slice(
    errors: Sequence[Tensor],
    variances: Sequence[Tensor],
    floors: Sequence[Tensor],
    draws: int,
    members: Sequence[Wide] | None,
    moved: Sequence[Wide] | None,
    carried: float,
) -> tuple[float, tuple[int, int]]:
    """The largest statistic of a slice, and where it is. Samples of one shape are stacked; otherwise each is sliced by itself, and
    the samples against each other. `members` are 1 where an element counts; None: all do. `moved` is the variance of elements that
    jumps can reach: one that tips takes all along that follows from it, so that the liveliest slice says how far any may go, and
    `carried` how far at least."""
    worst, where = 0.0, (0, 0)
    parts = (errors, variances, floors, members, moved)
    if len({array.shape for array in errors}) == 1:
        blocks = [[None if part is None else _block(part) for part in parts]]
        first = 0
    else:
        squared = ([np.square(array) for array in errors], *parts[1:])
        sums = [None if part is None else np.array([float(np.sum(each)) for each in part]) for part in squared]
        worst, place = _largest(sums, [float(array.size) for array in errors], draws, carried)
        where = (0, place)
        blocks = [[None if part is None else _block([part[at]]) for part in parts] for at in range(len(errors))]
        first = 1
    for error, *others in blocks:
        assert error is not None
        energy = np.square(error)
        for axis in range(first, error.ndim):
            length = error.shape[axis]
            if length < 2 or error.size // length < FEWEST:
                continue
            across = tuple(other for other in range(error.ndim) if other != axis)
            sums = [None if array is None else array.sum(axis=across) for array in (energy, *others)]
            ratio, place = _largest(sums, [error.size / length] * length, draws, carried)
            if ratio > worst:
                worst, where = ratio, (axis, place)
    return worst, where


def _block(samples: Sequence[Tensor]) -> Wide:
    """Samples of one shape along a new first axis."""
    if len(samples) == 1:
        return np.ascontiguousarray(samples[0], np.float64).reshape(1, *np.shape(samples[0]))
    return np.stack([np.asarray(sample, np.float64) for sample in samples])


def _largest(sums: Sequence[Wide | None], sizes: Sequence[float], draws: int, carried: float) -> tuple[float, int]:
    """Of slices, by their sums of energy, variance, floor, members and what moved; of so many elements where all are members."""
    energy, variance, floor = (np.zeros(1) if array is None else array for array in sums[:3])
    members, moved = sums[3:]
    counts = np.array(sizes) if members is None else members
    with np.errstate(all="ignore"):
        typical = counts * (variance.sum() / counts.sum())
        shrunk = (draws * variance + PSEUDO_DRAWS * typical) / (draws + PSEUDO_DRAWS)
        allowed = shrunk + floor
        if moved is not None:
            farthest = max(draws * moved.max(initial=0.0), carried**2)
            allowed = allowed + np.where(moved > 0, farthest / SLICE_LIMIT**2, 0.0)
        ratios = np.sqrt(energy / allowed)
    ratios = np.where((energy == 0) | (counts < FEWEST), 0.0, np.where(np.isnan(ratios), np.inf, ratios))
    place = int(np.argmax(ratios))
    return float(ratios[place]), place

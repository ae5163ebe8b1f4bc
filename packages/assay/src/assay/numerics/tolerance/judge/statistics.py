"""Three statistics of an error against its derived noise, over all samples of one output together.

norm     |r| / sqrt(sum of v + o)
element  largest |r_i| / sqrt((D v_i + nu mean(v)) / (D + nu) + o_i), divided by sqrt(2 ln 2n + 2), its growth with n
slice    largest |r| / sigma of a slice: every index of every axis (the sample is the first), four elements at least

v is the variance of D noisy evaluations, o that of rounding the output itself. The variance of one element from a few
draws is uncertain, and somewhere close to zero by luck: nu = 4 pseudo-draws of the mean variance keep it honest. A pass
is at most 4, 4 and 6; a whole slice may share one error, so that its statistic has a heavier tail. The constants were
fixed once for all operators, models and types (docs/tolerance-derivation.md).

Where values are rounded to a grid (`assay.numerics.tolerance.rules.rounding_steps`), what only tipped evaluations have seen
to jump counts too, so that as large a jump there is within each limit: in the norm and in a slice twice its energy, at an
element that jumps can reach the largest that any draw shows, and over a slice that they can reach all that the draws show of
the liveliest one. Where few elements are given, no draw may show one: one jump by a step is always within each limit where
shaken evaluations say that jumps reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from assay.numerics.tolerance.judge.noise_clusters import Wide, clusters
from assay.numerics.tolerance.judge.slices import PSEUDO_DRAWS, SLICE_LIMIT, largest_slice
from assay.numerics.tolerance.rules.rounding_steps import least, level, unseen
from assay.ports import Tensor

NORM_LIMIT = 4.0
ELEMENT_LIMIT = 4.0
JUMPS = 2.0
"""Jumps for each that only a tipped evaluation has seen: ties that it did not tip lie beside those that it did."""
_ROUNDED = 1 + 2.0**-8
"""Jumps by the same steps differ by how they are rounded."""
TINY = float(np.finfo(np.float64).tiny)


class Statistics(msgspec.Struct, frozen=True):
    """`element_at` is (sample, index ...) of the worst element, `slice_at` (axis, index) of the worst slice; axis 0 is the
    sample. `out` counts elements beyond their limit; `noise` is the root mean square of what is allowed once, `allowed` the error of an
    element as noisy as those that are judged with the worst, `most` that of the noisiest element."""

    norm: float
    element: float
    slice: float
    element_at: tuple[int, ...] = ()
    slice_at: tuple[int, int] = (0, 0)
    out: int = 0
    elements: int = 0
    noise: float = 0.0
    allowed: float = 0.0
    most: float = 0.0
    worst: tuple[int, ...] = ()

    @property
    def budgets(self) -> dict[str, float]:
        """Each statistic as a share of its limit, and the largest of them."""
        shares = {
            "budget_norm": self.norm / NORM_LIMIT,
            "budget_element": self.element / ELEMENT_LIMIT,
            "budget_slice": self.slice / SLICE_LIMIT,
        }
        return {**shares, "budget_used": max(shares.values())}


def statistics(
    errors: Sequence[Tensor],
    variances: Sequence[Tensor],
    floors: Sequence[Tensor],
    draws: int,
    kept: int = 10,
    jumps: Sequence[tuple[Tensor, Tensor]] | None = None,
    *,
    smooth: bool = True,
) -> Statistics:
    """Of each cluster of noise by itself; the one that uses most of its limits speaks for all. Arguments as for one;
    `jumps` are the errors of tipped and of shaken evaluations, None where nothing is rounded to a grid; `smooth`: nothing jumps
    for another reason either."""
    variance = _flat(variances)
    if not variance.size:
        return _statistics(errors, variances, floors, draws, kept, None)
    tipped: list[Wide] | None = None
    reached: Any = None
    step = 0.0
    with np.errstate(all="ignore"):
        allowed, noisy = variance + _flat(floors), variance > 0.0
        if jumps is not None:
            shaken = _flat([jump for _, jump in jumps])
            farthest = unseen(allowed, _flat([jump for jump, _ in jumps]), draws)
            tipped = _unflat(farthest, [np.shape(error) for error in errors])
            reached, step = (shaken > 0.0) | (_flat(tipped) > 0.0), least(shaken)
            allowed, noisy = level(allowed, shaken), noisy | (shaken > 0.0)
        masks = clusters(allowed, noisy, smooth=smooth and jumps is None)
    if len(masks) == 1:
        return _statistics(errors, variances, floors, draws, kept, None, tipped, reached, step)
    candidates = []
    for mask, margin in masks:
        allowances = [floor + margin for floor in floors] if margin else floors
        candidates.append(_statistics(errors, variances, allowances, draws, kept, mask, tipped, reached, step))
    worst = max(candidates, key=lambda statistic: statistic.budgets["budget_used"])
    return msgspec.structs.replace(
        worst,
        out=sum(statistic.out for statistic in candidates),
        elements=sum(statistic.elements for statistic in candidates),
        noise=_ratio(sum(statistic.elements * statistic.noise**2 for statistic in candidates), float(variance.size)),
        most=max(statistic.most for statistic in candidates),
    )


def _statistics(
    errors: Sequence[Tensor],
    variances: Sequence[Tensor],
    floors: Sequence[Tensor],
    draws: int,
    kept: int,
    mask: Any,
    tipped: Sequence[Tensor] | None = None,
    reached: Any = None,
    step: float = 0.0,
) -> Statistics:
    """All sequences have one array per sample; elements that do not count are zero in all three. `worst` are the flat
    positions (all samples in a row) of the `kept` elements that use most of their limit."""
    shapes = [np.shape(array) for array in errors]
    error, variance, floor = (_flat(parts) for parts in (errors, variances, floors))
    if not error.size:
        return Statistics(0.0, 0.0, 0.0)
    places = np.arange(error.size) if mask is None else np.flatnonzero(mask)
    members = None if mask is None else _unflat(mask.astype(np.float64), shapes)
    if members is not None:
        errors, variances, floors = (
            [np.asarray(array, np.float64) * member for array, member in zip(part, members, strict=True)]
            for part in (errors, variances, floors)
        )
        error, variance, floor = error[places], variance[places], floor[places]
    jump = _flat(tipped)[places] if tipped is not None else np.zeros(1)
    with np.errstate(all="ignore"):
        carried = _carried(variance, draws, jump, None if reached is None else reached[places], step)
        scale = _scales(variance, floor, draws, carried, None if reached is None else reached[places])
    jumped = max(JUMPS * float(np.square(jump).sum()), carried**2) / NORM_LIMIT**2
    norm = _ratio(float(np.square(error).sum()), float(variance.sum() + floor.sum()) + jumped)
    used = _used(error, scale)
    order = _largest_first(used, kept)
    noise = math.sqrt(float(variance.mean() + floor.mean()))
    sliced = variances if tipped is None else _with_jumps(variances, tipped, draws, members)
    moved = None if reached is None else _unflat((_flat(variances) + TINY) * reached, shapes)
    ratio, where = largest_slice(errors, sliced, floors, draws, members, moved, carried)
    return Statistics(
        norm=norm,
        element=float(used[order[0]]),
        slice=ratio,
        element_at=locate(int(places[order[0]]), shapes),
        slice_at=where,
        out=int(np.count_nonzero(used > ELEMENT_LIMIT)),
        elements=int(error.size),
        allowed=ELEMENT_LIMIT * _growth(error.size) * noise,
        most=ELEMENT_LIMIT * float(scale.max()),
        noise=noise,
        worst=tuple(int(places[number]) for number in order),
    )


def _carried(variance: Wide, draws: int, jump: Wide, reached: Any, step: float) -> float:
    """The farthest that a jump carries an element: in any evaluation that shows one, and a step at least."""
    if reached is None or not reached.any():
        return 0.0
    deviation = np.where(reached, np.maximum(jump, np.sqrt(draws * variance)), 0.0)
    return _ROUNDED * max(float(deviation.max()), step)


def _scales(variance: Wide, floor: Wide, draws: int, carried: float, reached: Any) -> Wide:
    """What one element may be off, in units of ELEMENT_LIMIT: more the more there are, and more where a jump reaches."""
    scale = np.sqrt(_shrunk(variance, draws) + floor) * _growth(variance.size)
    if not carried:
        return np.asarray(scale)
    return np.where(reached, np.hypot(scale, carried / ELEMENT_LIMIT), scale)


def _used(error: Wide, scale: Wide) -> Wide:
    with np.errstate(all="ignore"):
        used = np.abs(error) / scale
    return np.where(error == 0, 0.0, np.where(np.isnan(used), np.inf, used))


def _growth(elements: int) -> float:
    """Of the largest of so many errors."""
    return math.sqrt(2 * math.log(2 * elements) + 2)


def _largest_first(used: Wide, kept: int) -> Any:
    if kept == 1:
        return [int(np.argmax(used))]
    order = np.argsort(used)[::-1][:kept] if used.size <= kept else np.argpartition(used, -kept)[-kept:]
    return order[np.argsort(used[order])[::-1]]


def locate(position: int, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """(sample, index ...) of a flat position in all samples in a row."""
    for sample, shape in enumerate(shapes):
        size = math.prod(shape)
        if position < size:
            return (
                (sample, *(int(coordinate) for coordinate in np.unravel_index(position, shape))) if shape else (sample,)
            )
        position -= size
    return ()


def _flat(arrays: Sequence[Tensor]) -> Wide:
    parts = [np.asarray(array, np.float64).reshape(-1) for array in arrays]
    return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.zeros(0)])


def _unflat(flat: Wide, shapes: Sequence[tuple[int, ...]]) -> list[Wide]:
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]


def _shrunk(variance: Wide, draws: int) -> Wide:
    return np.asarray((draws * variance + PSEUDO_DRAWS * variance.mean()) / (draws + PSEUDO_DRAWS))


def _with_jumps(
    variances: Sequence[Tensor], jumps: Sequence[Tensor], draws: int, members: Sequence[Wide] | None
) -> list[Wide]:
    """Such that a slice in which everything jumps `JUMPS` times is at its limit, after it was shrunk."""
    share = JUMPS * (draws + PSEUDO_DRAWS) / draws / SLICE_LIMIT**2
    counted = members if members is not None else [np.ones(()) for _ in jumps]
    return [
        np.asarray(variance, np.float64) + share * np.square(np.asarray(jump, np.float64)) * member
        for variance, jump, member in zip(variances, jumps, counted, strict=True)
    ]


def _ratio(energy: float, allowed: float) -> float:
    if energy == 0.0:
        return 0.0
    return math.sqrt(energy / allowed) if allowed > 0.0 else math.inf

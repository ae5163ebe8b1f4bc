"""What is wrong everywhere in the same way, where values are rounded to a grid.

Flips of a correct engine go up as often as down: over many elements and samples they cancel. A scale, a zero point or a bias that
is off by a little does the same to every one of them. So signed errors are added up before they are judged: element by element
over all samples, and over every index of every axis, as they are (a shift) and weighted by the centred values (a gain). What such
sums do in a correct engine the noisy evaluations say; an engine that rounds every tie to the same side is correct as well
(`DirectionalBias`), and so is a single jump where noise was never seen to make one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.core.finding import Fact, FindingCode, facts
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.numerics.tolerance.judge.slices import PSEUDO_DRAWS, SLICE_LIMIT
from assay.numerics.tolerance.judge.statistics import ELEMENT_LIMIT, JUMPS, NORM_LIMIT
from assay.numerics.tolerance.rules.rounding_steps import Exact, StepReplay, unseen
from assay.ports import Tensor, Tensors

MANY = 4
"""Samples of one shape, from which on an element's mean says more than the element."""
TWICE = 2.0
"""What leans may lean twice as far, and two jumps may meet."""
FLOAT = 2.0**-20
"""Errors of single precision are systematic, too: functions and divisions of 16 units, all to one side."""
_TIE = 2.0**-20

Wide = np.ndarray[Any, np.dtype[np.float64]]


class DirectionalBias(StepReplay):
    """All values that are rounded to a grid moved to one side by the deviation that a correct engine has there."""

    def __init__(self, exact: Mapping[tuple[str, ...], Sequence[Exact]], deviation: float, sign: float) -> None:
        super().__init__(exact)
        self._sign, self._moved = sign, deviation
        self._tie = sign * _TIE

    def moved(self, value: Tensor, exact: Exact) -> Tensor:
        leans = np.asarray(self._sign * exact.at_most(self._moved), value.dtype)
        return np.asarray(value + leans)

    def stepped(self, value: Tensor, exact: Exact) -> Tensor:
        return np.asarray(exact.stepped(value + value.dtype.type(self._tie) * np.maximum(np.abs(value), 1)))


class Sums:
    """Signed sums of errors, a row for each of `count` samples that lie in one array, for the real values of `base`."""

    def __init__(self, base: Tensors, count: int) -> None:
        self._base = {name: value for name, value in base.items() if value.dtype.kind == "f" and value.size}
        self._count = count
        self._squares: dict[str, Any] = dict.fromkeys(self._base, 0.0)
        self._largest: dict[str, Any] = dict.fromkeys(self._base, 0.0)
        self._draws = 0

    def add(self, noisy: Tensors, exact: Tensors) -> None:
        """One evaluation with noise of its true size."""
        self._draws += 1
        for name, sums in self._of(noisy, exact).items():
            self._squares[name] = self._squares[name] + np.square(sums)

    def tip(self, noisy: Tensors, exact: Tensors) -> None:
        """One with noise some times as large."""
        for name, sums in self._of(noisy, exact).items():
            self._largest[name] = np.maximum(self._largest[name], np.abs(sums))

    def _of(self, noisy: Tensors, exact: Tensors) -> dict[str, Wide]:
        errors_by_output = {}
        for name, value in self._base.items():
            if noisy[name].shape == value.shape:
                if (value.shape[0] if value.shape else 1) % self._count:
                    raise Lowering(noted(NoteCode.ROWS_DEPEND, output=name))
                shape = (self._count, -1, *value.shape[1:])
                with np.errstate(all="ignore"):
                    error = noisy[name].astype(np.float64, order="C") - exact[name]
                error = np.where(np.isfinite(error), error, 0.0).reshape(shape)
                wide = value.astype(np.float64).reshape(shape)
                errors_by_output[name] = np.stack([sums(part, other) for part, other in zip(error, wide, strict=True)])
        return errors_by_output

    def margins(self) -> dict[str, Tensor]:
        """`NAME/sums`, their standard deviations, and `NAME/sums_tipped`, the largest of the larger noise."""
        blank = {name: np.zeros((self._count, width(self._shape(name)))) for name in self._base}
        margins_by_name = {
            f"{name}/sums": np.sqrt((blank[name] + self._squares[name]) / max(1, self._draws)) for name in self._base
        }
        return margins_by_name | {f"{name}/sums_tipped": blank[name] + self._largest[name] for name in self._base}

    def _shape(self, name: str) -> tuple[int, ...]:
        shape = self._base[name].shape
        return (shape[0] // self._count, *shape[1:]) if shape else (1,)


def groups(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """(axis, indices) of the sums of one kind: all of it, as axis -1 with one, and every axis of two indices or more."""
    return [(-1, 1), *((axis, length) for axis, length in enumerate(shape) if length > 1)]


def width(shape: tuple[int, ...]) -> int:
    """How many sums there are of both kinds."""
    return 2 * sum(length for _, length in groups(shape))


def sums(error: Wide, oracle: Wide) -> Wide:
    """Of one sample, in the order of `groups`: shifts, then gains."""
    parts = []
    for weighted in (error, error * centred(oracle)):
        for axis, _ in groups(error.shape):
            others = tuple(other for other in range(error.ndim) if other != axis)
            parts.append(np.atleast_1d(weighted.sum(axis=others)).reshape(-1))
    array: Wide = np.concatenate(parts)
    return array


@dataclass(frozen=True)
class Systematic:
    """`used` is the share of its limit that the worst of the sums takes; `code` says which it is, `place` where."""

    used: float
    code: FindingCode = FindingCode.BARE
    place: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """One sample: the signed error, the oracle, the variance of an element, the known offset of what is expected, and what noisy
    evaluations said (`up` and `down`: the errors of those that lean). `common` is the deviation that elements share, 0 where each
    errs by itself (`shared`)."""

    error: Wide
    oracle: Wide
    variance: Wide
    offset: Wide
    tipped: Wide
    up: Wide
    down: Wide
    deviations: Wide
    largest: Wide
    common: Wide | None = None


def shared(oracle: Wide, deviation: Wide, still: Any) -> Wide:
    """The deviation of elements that are one number of a grid and no jump reaches: what one kernel makes of a whole number errs
    in the same way wherever that number stands, while evaluations draw an error for each."""
    array: Wide = np.zeros(oracle.shape)
    if still.any():
        _, where, counts = np.unique(oracle, return_inverse=True, return_counts=True)
        array = np.where(still & (counts[where].reshape(oracle.shape) > 1), deviation, 0.0)
    return array


def _common(side: Side) -> Wide:
    return np.zeros(side.error.shape) if side.common is None else side.common


def systematic(samples: Sequence[Side], draws: int) -> Systematic:
    """The worst of all sums; samples of one shape are added to each other."""
    by_shape: dict[tuple[int, ...], list[Side]] = {}
    for sample in samples:
        by_shape.setdefault(sample.error.shape, []).append(sample)
    systematics = [_sums(alike, draws) for alike in by_shape.values()]
    systematics += [_elements(alike, draws) for alike in by_shape.values() if len(alike) >= MANY]
    return max(systematics, key=lambda bias: bias.used, default=Systematic(0.0))


def _added(parts: Sequence[Wide]) -> Wide:
    return np.asarray(np.sum(np.stack(parts), axis=0), np.float64)


def _elements(samples: Sequence[Side], draws: int) -> Systematic:
    """Every element's errors added over the samples."""
    error = _added([sample.error for sample in samples]).reshape(-1)
    variance = _added([sample.variance for sample in samples]).reshape(-1)
    size = _added([np.abs(np.nan_to_num(sample.oracle, posinf=0.0, neginf=0.0)) for sample in samples]).reshape(-1)
    floor = FLOAT**2 * (np.square(size) + np.mean(np.square(size))) + np.finfo(np.float64).tiny
    leans = np.maximum(
        *(np.abs(_added([getattr(sample, way) for sample in samples])) for way in ("up", "down"))
    ).reshape(-1)
    known = np.square(TWICE * leans) + np.square(TWICE * _added([sample.offset for sample in samples]).reshape(-1))
    known += np.square(ELEMENT_LIMIT * _added([_common(sample) for sample in samples]).reshape(-1))
    jumps = _added([np.square(unseen(sample.variance, sample.tipped, draws)) for sample in samples])
    allowed = float(np.sum(variance + floor + known / NORM_LIMIT**2) + JUMPS * jumps.sum() / NORM_LIMIT**2)
    norm = math.sqrt(float(np.square(error).sum()) / allowed)
    growth = math.sqrt(2 * math.log(2 * error.size) + 2)
    limit = ELEMENT_LIMIT * growth
    jump = TWICE * max(float(sample.tipped.max(initial=0.0)) for sample in samples)
    shrunk = (draws * variance + PSEUDO_DRAWS * variance.mean()) / (draws + PSEUDO_DRAWS)
    ratios = np.abs(error) / np.sqrt(limit**2 * (shrunk + floor) + known + jump**2)
    place = int(np.argmax(ratios))
    index = tuple(int(coordinate) for coordinate in np.unravel_index(place, samples[0].error.shape))
    if norm / NORM_LIMIT >= ratios[place]:
        return Systematic(float(norm / NORM_LIMIT), FindingCode.REPEATED_ERRORS)
    return Systematic(float(ratios[place]), FindingCode.REPEATED_ERROR_AT, facts(index=index))


def _sums(samples: Sequence[Side], draws: int) -> Systematic:
    """The sums of all samples, each index of an axis beside its like."""
    error = _added([sums(sample.error, sample.oracle) for sample in samples])
    size = _added([np.abs(sums_of_sizes(sample.oracle)) for sample in samples])
    leans = np.maximum(
        *(np.abs(_added([sums(getattr(sample, way), sample.oracle) for sample in samples])) for way in ("up", "down"))
    )
    offset = _added([sums(sample.offset, sample.oracle) for sample in samples])
    common = _added([sums_of_sizes(_common(sample), centred(sample.oracle)) for sample in samples])
    variance = _added([np.square(sample.deviations) for sample in samples])
    largest = np.max(np.stack([sample.largest for sample in samples]), axis=0)
    one_jump = _one_jump(samples, draws)
    worst, start = Systematic(0.0), 0
    for kind, code, of_slice in (
        ("shift", FindingCode.SHIFT, FindingCode.SHIFT_OF_SLICE),
        ("gain", FindingCode.GAIN, FindingCode.GAIN_OF_SLICE),
    ):
        for axis, length in groups(samples[0].error.shape):
            part = slice(start, start + length)
            start += length
            typical = variance[part].mean()
            shrunk = (draws * variance[part] + PSEUDO_DRAWS * typical) / (draws + PSEUDO_DRAWS)
            known = np.square(TWICE * leans[part]) + np.square(TWICE * offset[part])
            known += np.square(ELEMENT_LIMIT * common[part])
            jump = np.square(max(TWICE * float(largest[part].max()), one_jump[kind]))
            floor = np.square(FLOAT * size[part]) + np.finfo(np.float64).tiny
            ratios = np.abs(error[part]) / np.sqrt(SLICE_LIMIT**2 * (shrunk + floor) + known + jump)
            place = int(np.argmax(ratios))
            if ratios[place] > worst.used:
                where = facts(index=place, axis=int(axis)) if axis >= 0 else {}
                worst = Systematic(float(ratios[place]), of_slice if where else code, where)
    return worst


def _one_jump(samples: Sequence[Side], draws: int) -> dict[str, float]:
    """What the farthest jump of one element adds to a sum: few jumps that the draws show may cancel in each of them."""
    farthest = [np.maximum(sample.tipped, np.sqrt(draws * sample.variance)) for sample in samples]
    gains = [array * np.abs(centred(side.oracle)) for array, side in zip(farthest, samples, strict=True)]
    return {
        "shift": max(float(array.max(initial=0.0)) for array in farthest),
        "gain": max(float(gain.max(initial=0.0)) for gain in gains),
    }


def centred(oracle: Wide) -> Wide:
    """Around the mean of what is finite; 0 elsewhere."""
    finite = np.isfinite(oracle)
    with np.errstate(all="ignore"):
        return np.where(finite, oracle - (oracle[finite].mean() if finite.any() else 0.0), 0.0)


def sums_of_sizes(oracle: Wide, weights: Wide | None = None) -> Wide:
    """What an error of one unit of every element, all to the same side, adds up to; gains are weighted by `weights`, or by what
    is centred here."""
    finite = np.nan_to_num(oracle, posinf=0.0, neginf=0.0)
    if weights is None:
        weights = finite - finite.mean() if finite.size else finite
    parts = []
    for weighted in (np.abs(finite), np.abs(finite * weights)):
        for axis, _ in groups(finite.shape):
            others = tuple(other for other in range(finite.ndim) if other != axis)
            parts.append(np.atleast_1d(weighted.sum(axis=others)).reshape(-1))
    array: Wide = np.concatenate(parts)
    return array

"""Inputs that nobody could have published: values of the test data sets, drawn here and now, some of them more often than they were."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Part = np.ndarray[Any, Any]
Sample = Mapping[str, Part]
_NEAR = 1e-3
"""Share by which the numbers of a sample differ at least from those of another one."""
_ROUNDINGS = 4
_COMPARED = 64
_ENDS = 50
"""One of so many of the smallest values, and of the largest, is left out."""
_BENDS = (1.5, 2.5)
_FEW = 16
"""As many different values are kinds (masks, flags, one-hot, labels): how many there are of each says how much there is to do."""
_GRADES = 3
"""So many kinds that come again are more than a mask: their sum is another in each draw, as that of an image of few greys."""
_MOVED = 16
"""One of so many places of such an input has another value."""
_LEAST = 8
"""Length from which an axis counts things of one kind (pixels, words, samples): a shorter one has settings, channels, columns."""


def drawn_again(samples: Sequence[Sample], seed: int | None = None, *, turned: bool = False) -> list[Sample]:
    """The same names, types and shapes; every value is one that the model takes. `seed` None: drawn from the system. `turned`: each input
    that has more large values with this seed has more small ones, and the other way round."""
    generator = np.random.default_rng(int.from_bytes(os.urandom(16), "little") if seed is None else seed)
    return [{name: _drawn(values, generator, turned) for name, values in sample.items()} for sample in samples]


def telling_samples(samples: Sequence[Sample]) -> tuple[int, int]:
    """How many different samples could tell a right answer from a wrong one, and how many there are at all. A sample whose
    inputs hold one value each could not, nor one that is nearly another."""
    single = [parts for sample in samples for parts in _singles(sample)]
    spreads = _spreads(single)
    telling: list[dict[str, Part]] = []
    for parts in single:
        tells = any(_tells(part, spreads[name, part.shape]) for name, part in parts.items())
        if tells and not any(_alike(parts, other, spreads) for other in telling[:_COMPARED]):
            telling.append(parts)
    return len(telling), len(single)


def _singles(sample: Sample) -> Iterator[dict[str, Part]]:
    sizes = {values.shape[0] if values.ndim else 1 for values in sample.values()}
    rows = sizes.pop() if len(sizes) == 1 else 1
    for row in range(rows):
        yield {name: np.asarray(values[row] if rows > 1 else values) for name, values in sample.items()}


def _real(values: Part) -> Part:
    return np.stack([values.real, values.imag], -1) if values.dtype.kind == "c" else values


def _spreads(single: Sequence[Mapping[str, Part]]) -> dict[tuple[str, tuple[int, ...]], Part]:
    """How far the values of an input lie from one another over all samples; what a short axis counts has a spread each."""
    ends: dict[tuple[str, tuple[int, ...]], tuple[Part, Part]] = {}
    for name, values in (each for parts in single for each in parts.items()):
        key, part = (name, values.shape), _real(values)
        if part.dtype.kind != "f" or not part.size:
            ends.setdefault(key, (np.zeros(()), np.zeros(())))
            continue
        long = tuple(axis for axis, size in enumerate(part.shape) if size >= _LEAST)
        low, high = (ufunc.reduce(part, axis=long, keepdims=True).astype(np.float64) for ufunc in (np.fmin, np.fmax))
        known = ends.get(key, (low, high))
        ends[key] = np.fmin(low, known[0]), np.fmax(high, known[1])
    with np.errstate(invalid="ignore"):
        return {key: np.nan_to_num(high - low) for key, (low, high) in ends.items()}


def _tells(values: Part, spread: Part) -> bool:
    if values.size == 1:
        return bool(values.reshape(-1)[0])
    return values.size > 0 and not _near(values, np.full_like(values, values.reshape(-1)[0]), spread)


def _alike(some: Mapping[str, Part], others: Mapping[str, Part], spreads: Mapping[Any, Part]) -> bool:
    return some.keys() == others.keys() and all(
        array.shape == others[name].shape and _near(array, others[name], spreads[name, array.shape])
        for name, array in some.items()
    )


def _near(left: Part, other: Part, spread: Part) -> bool:
    """Numbers that differ by a small share of themselves and of their `spread`, or by a rounding; whole numbers and words are
    others or the same. The share of the spread is for what lies far from zero, as a pressure, the other one for a single large value."""
    left, other = _real(left), _real(other)
    if left.dtype != other.dtype or left.dtype.kind != "f":
        return bool(np.array_equal(left, other))
    some, others = left.astype(np.float64), other.astype(np.float64)
    size = np.fmax(np.abs(some), np.abs(others))
    allowed = np.fmax(_NEAR * np.fmin(size, spread), _ROUNDINGS * float(np.finfo(left.dtype).eps) * size)
    with np.errstate(invalid="ignore"):
        close = np.abs(some - others) <= np.where(np.isfinite(size), allowed, 0.0)
    return bool(np.all(close | (some == others) | (np.isnan(some) & np.isnan(others))))


def _drawn(values: Part, generator: np.random.Generator, turned: bool) -> Part:
    """Along its long axes together; what a short axis counts keeps its own values."""
    long = [axis for axis, size in enumerate(values.shape) if size >= _LEAST]
    if not long:
        return values
    short = [axis for axis in range(values.ndim) if axis not in long]
    order = (*short, *long)
    view = values.transpose(order)
    rows = view.reshape(-1, math.prod(view.shape[len(short) :]))
    flat = np.sort(rows, axis=-1)
    few = np.array([len(np.unique(row)) <= min(_FEW, flat.shape[-1] // 2) for row in flat], dtype=bool)
    larger = bool(generator.integers(2)) is not turned
    mixed = np.empty_like(flat)
    mixed[~few] = _bent(flat[~few], generator, larger)
    if few.any():
        mixed[few] = _mixed(rows[few], generator, larger)
    return np.ascontiguousarray(mixed.reshape(view.shape).transpose(np.argsort(order)))


def _bent(flat: Part, generator: np.random.Generator, larger: bool) -> Part:
    """Large values are more frequent than before, or small ones, and neither end comes again: what an input has whatever its order
    (sum, most, least) is another, too."""
    ends = max(1, flat.shape[-1] // _ENDS)
    bend = generator.uniform(*_BENDS) ** (-1 if larger else 1)
    places = ends + (generator.random(flat.shape) ** bend * (flat.shape[-1] - 2 * ends)).astype(np.int64)
    return np.take_along_axis(flat, places, axis=-1)


def _mixed(rows: Part, generator: np.random.Generator, larger: bool) -> Part:
    """In another order, the same one in each row. At a few places large values stand where small ones were, or the other way round. No
    kind is lost, and what is there once (a start, the one of one-hot) is there once."""
    places = generator.permutation(rows.shape[-1])
    kinds = [np.unique(row, return_index=True, return_inverse=True, return_counts=True) for row in rows[:, places]]
    repeated = np.logical_and.reduce([counts[kind] > 1 for _, _, kind, counts in kinds])
    free = repeated.copy()
    for _, first, _, _ in kinds:
        free[first] = False
    others = min(int(counts.min()) for _, _, _, counts in kinds) // _ENDS
    graded = [kind for _, _, kind, counts in kinds if np.count_nonzero(counts > 1) >= _GRADES]
    if graded:
        others = max(1, others, int(np.count_nonzero(free)) // _MOVED)
    kind = graded[generator.integers(len(graded))] if graded else kinds[0][2]
    into, out_of = (_ranked(where, kind, up=up)[:others] for where, up in ((free, larger), (repeated, not larger)))
    places[into] = places[out_of[: len(into)]]
    return rows[:, places]


def _ranked(where: Part, kind: Part, *, up: bool) -> Part:
    candidates = np.flatnonzero(where)
    return candidates[np.argsort(kind[candidates] if up else -kind[candidates], kind="stable")]

"""What the weights of a model are known by inside another one: scaled, rounded to eight bits, thinned out, turned, in another order, or
joined with others.

A line is a row or a column of a matrix or a kernel. A few of its largest and smallest values tell it from every other line of that length:
those of the same model show whether they do.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from assay_zoo.manifest import SKETCH_FORM, Sketch

if TYPE_CHECKING:
    import numpy as np

_SHORTEST, _OF_SIZE = 16, 64
_RANKS, _PART = 6, 6
"""Values at each end of a line, the last of them a sixth of the way: those near to zero may be taken away."""
_STEPS, _NEAR, _TELLING, _OF_NEXT = 1000, 0.025, 0.004, 0.5
"""In the mean of these values: how finely they are kept, what eight bits and pruning make of a line at most, what they make of most lines,
and this part of the way to the line of the same model that is most like it."""
_PLACES, _TRIES, _TIED = 96, 4, 4
"""Places where lines are taken from, so many there, and so often a model may have the same matrix."""
_MOST, _ALL = 1 << 22, 1 << 26
"""Elements: of a larger matrix its first rows, and of all matrices the largest, since a reader of a stranger's file has little memory."""
_WIDTH = 1 + 2 * _RANKS + 1
"""Of a line: its length, its values, and how far one may be that is taken for it."""
_DRAWN, _AT_ONCE = 1 << 13, 1 << 11
"""Lines of one length: so many tell how far from each other they are; and those that are compared in one step."""
_BY_CHANCE = 1
"""So many places of mixed lines may be found."""
_ROUNDS = 16
_SMALL = 1e-6
"""Of the largest of a matrix: what is left of the sine of pi."""
_DIFFERENT, _LOOKED_AT = 16, 4096
"""Absolute values: those of a mask are few."""
_LINES, _LONG, _UNFORESEEN, _AT_MOST = 64, 16, 0.02, 4
_LARGEST_BYTES = 4
"""Of a whole number that is a weight: those of eight bytes are places and sizes."""


def counted(constants: Iterable[np.ndarray]) -> list[np.ndarray]:
    """The largest of those that were trained, as fractions. What is computed, as a table of sines, two models may both have."""
    import numpy as np

    kept: list[np.ndarray] = []
    elements = 0
    for array in constants:
        is_weight = array.dtype.kind in "fV" or (array.dtype.kind in "iu" and array.dtype.itemsize <= _LARGEST_BYTES)
        if is_weight and array.size >= _OF_SIZE and (len(array) > 1 or array.ndim > 1):
            rows = _in_use(_first_rows(array).astype(np.float32))
            if rows.size and np.isfinite(rows).all() and not _is_mask(np.abs(rows)) and not is_computed(rows):
                insort(kept, rows, key=lambda rows: (-rows.size, rows.shape))
                elements += rows.size
                while elements > max(_ALL, kept[0].size):
                    elements -= kept.pop().size
    return kept


def _in_use(array: np.ndarray) -> np.ndarray:
    """Without rows and columns that are nothing but zeros, or in which a value is not finite: nothing comes of them."""
    import numpy as np

    if array.ndim == 1 or not array.size:
        return array
    pairs = array.reshape(*array.shape[:2], -1)
    is_broken = ~np.isfinite(pairs).all(axis=2)
    rows, columns = is_broken.any(axis=1), is_broken.any(axis=0)
    pairs = pairs[~rows] if rows.sum() <= columns.sum() else pairs[:, ~columns]
    is_used = (pairs != 0).any(axis=2)
    return np.asarray(pairs[is_used.any(axis=1)][:, is_used.any(axis=0)])


class Lines:
    """All of the `counted` constants of a model: of each constant by axis and kind, and of each kind by their length."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self.sizes = [array.size for array in arrays]
        self.sides = [list(_sides(array)) for array in arrays]
        self.pools = _pools(self.sides)


def sketch_of(model: Lines) -> Sketch:
    """Lines drawn from it as its elements are spread."""
    import numpy as np

    generator, ends = np.random.default_rng(0), np.cumsum(model.sizes)
    pools = [
        {
            length: lines[generator.permutation(len(lines))[:_DRAWN], 1:].T.astype(float, "C")
            for length, lines in pool.items()
        }
        for pool in model.pools
    ]
    drawn = np.searchsorted(ends, (np.arange(_PLACES) + 0.5) / _PLACES * ends[-1]) if len(ends) else []
    places = np.zeros((_PLACES, 2, 2, _WIDTH), np.int16)
    for place, tensor in zip(places, drawn, strict=False):
        for kept, side in zip(place, model.sides[tensor], strict=False):
            for kind, lines in enumerate(side):
                tried = lines[generator.integers(len(lines), size=_TRIES)]
                next_ones = _OF_NEXT * _nexts(tried[:, 1:], pools[kind][int(tried[0, 0])])
                at = int(np.argmax(next_ones))
                if next_ones[at] >= _TELLING:
                    kept[kind] = [*tried[at], min(next_ones[at], _NEAR) * _STEPS]
    return Sketch(form=SKETCH_FORM, elements=sum(model.sizes), lines=places.astype("<i2").tobytes())


def share_found(known: Sketch, model: Lines) -> float:
    """Of the elements of the model that is known, those that another one has, too. So near are its lines that hardly one that is
    made of two of them is found: among many short lines each has one that is like it."""
    import numpy as np

    places = np.frombuffer(known.lines, "<i2").reshape(_PLACES, -1, _WIDTH)
    found = _parts_of_limit(places, model)
    if np.sum(found < 1) <= _BY_CHANCE:
        return 0.0
    by_chance = _parts_of_limit(_mixed(places), model)
    return float(np.mean(found < min(1, np.sort(by_chance)[_BY_CHANCE])))


def _parts_of_limit(places: np.ndarray, model: Lines) -> np.ndarray:
    """For each place the least part of the way that one of its lines may be away, at which the model has a line like it."""
    import numpy as np

    parts = np.full(places.shape[:2], np.inf)
    for kind, pool in enumerate(model.pools):
        ours = places[:, kind::2]
        for length in np.intersect1d(ours[..., 0], list(pool)):
            is_it = ours[..., 0] == length
            apart = _all_nearest(ours[is_it][:, 1:-1], pool[int(length)][:, 1:])
            parts[:, kind::2][is_it] = apart / ours[is_it][:, -1]
    return np.asarray(parts.min(axis=1))


def _mixed(places: np.ndarray) -> np.ndarray:
    """Each line with the smallest values of the next one of its length and kind."""
    import numpy as np

    mixed = places.astype(np.float32)
    for at in range(places.shape[1]):
        for length in np.unique(places[:, at, 0]):
            (same,) = np.nonzero(places[:, at, 0] == length)
            next_ones = np.roll(same, 1)
            mixed[same, at, 1 + _RANKS : -1] = places[next_ones, at, 1 + _RANKS : -1]
            is_one = (places[same, at] == places[next_ones, at]).all(axis=1)
            mixed[same[is_one], at, 0] = 0
    ends = mixed[..., 1:-1]
    means = np.abs(ends).mean(axis=-1, keepdims=True)
    mixed[..., 1:-1] = np.divide(ends * _STEPS, means, out=np.zeros_like(ends), where=means > 0)
    return mixed


def _all_nearest(lines: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each line the way, in steps, to the other one that is most like it, also with the other sign."""
    import numpy as np

    middle = others.mean(axis=0)
    both = np.concatenate([lines, np.roll(lines, _RANKS, axis=1)]).astype(np.float32) - middle
    least = np.full(len(both), np.inf, np.float32)
    for start in range(0, len(others), _AT_ONCE):
        block = others[start : start + _AT_ONCE] - middle
        least = np.minimum(least, (np.square(block).sum(1) - 2 * both @ block.T).min(axis=1))
    squares = np.maximum(least + np.square(both).sum(1), 0).reshape(2, -1).min(axis=0)
    return np.asarray(np.sqrt(squares / lines.shape[1]))


def _sides(array: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Lines along each of both axes: as they are, and with rows and columns brought to one size."""
    import numpy as np

    if array.ndim == 1:
        lines = _ends(array[None])
        yield lines, lines
        return
    pairs = array.reshape(*array.shape[:2], -1)
    evened = _evened(pairs)
    for axis in (0, 1):
        if array.size // array.shape[axis] >= _SHORTEST:
            turned = (np.moveaxis(values, axis, 0).reshape(array.shape[axis], -1) for values in (pairs, evened))
            yield tuple(map(_ends, turned))


def _ends(lines: np.ndarray) -> np.ndarray:
    """The length of each, and of its values those of a few ranks from the largest down and from the smallest up."""
    import numpy as np

    length = lines.shape[1]
    ranks = np.geomspace(1, length / _PART, _RANKS).round().astype(int) - 1
    ordered = np.sort(lines, axis=1)  # faster than to partition them at twelve places
    ends = np.concatenate([ordered[:, length - 1 - ranks], -ordered[:, ranks]], axis=1)
    means = np.abs(ends).mean(axis=1, keepdims=True)
    steps = np.clip(np.divide(ends * _STEPS, means, out=np.zeros_like(ends), where=means > 0), -32000, 32000)
    return np.concatenate([np.full((len(lines), 1), min(length, 32000)), steps], axis=1).round().astype(np.int16)


def _evened(pairs: np.ndarray) -> np.ndarray:
    """The mean square of each row and column is one: what one layer multiplies and the next divides is gone."""
    import numpy as np

    largest = np.abs(pairs).max(initial=0) or 1
    scaled = np.where(np.abs(pairs) < largest * _SMALL, 0, pairs / largest)
    of_pairs, per_pair = np.einsum("rcp,rcp->rc", scaled, scaled), pairs.shape[2]
    rows, columns = np.ones(len(of_pairs)), np.ones(of_pairs.shape[1])
    for _ in range(_ROUNDS):
        rows = _inverse(of_pairs @ columns) * len(columns) * per_pair
        columns = _inverse(rows @ of_pairs) * len(rows) * per_pair
    return np.asarray(scaled * np.sqrt(rows)[:, None, None] * np.sqrt(columns)[None, :, None], np.float32)


def _pools(sides: Sequence[Sequence[tuple[np.ndarray, ...]]]) -> list[dict[int, np.ndarray]]:
    """Of each kind, all lines by their length."""
    import numpy as np

    pools: list[dict[int, list[np.ndarray]]] = [{}, {}]
    for side in (side for each in sides for side in each):
        for pool, lines in zip(pools, side, strict=True):
            pool.setdefault(int(lines[0, 0]), []).append(lines)
    return [{length: np.concatenate(lines).astype(np.float32) for length, lines in pool.items()} for pool in pools]


def _nexts(lines: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each line how far from it the other one of its own pool is that is most like it, also with the other sign. The others are
    columns, and all are whole numbers: what is equal is nothing apart."""
    import numpy as np

    lines = lines.astype(float)
    both = np.concatenate([lines, np.roll(lines, _RANKS, axis=1)])
    apart = np.square(both).sum(1)[:, None] + np.square(others).sum(0) - 2 * both @ others
    apart = apart.reshape(2, len(lines), -1).min(axis=0)
    is_same = apart == 0
    apart[is_same & (is_same.sum(axis=1) <= _TIED)[:, None]] = np.inf
    return np.asarray(np.sqrt(apart.min(axis=1) / lines.shape[1]) / _STEPS)


def _first_rows(array: np.ndarray) -> np.ndarray:
    """None where one is too many."""
    return array[: _MOST * len(array) // array.size]


def _inverse(sums: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0))


def _is_mask(sizes: np.ndarray) -> bool:
    import numpy as np

    flat = sizes.reshape(-1)
    step = max(flat.size // _LOOKED_AT, 1)
    while math.gcd(step, flat.size) > 1:  # else all of them may be of one column
        step += 1
    return len(np.unique(flat[::step])) < _DIFFERENT


def is_computed(array: np.ndarray) -> bool:
    """Whether each value follows from the two before it, along rows or columns, as in a wave: in what was trained it does not."""
    import numpy as np

    rows = _first_rows(array) if array.ndim > 1 and array.size else array[:0]
    if not len(rows) or not np.isfinite(rows).all():
        return False
    flat = rows.reshape(len(rows), -1)
    return any(_follows(lines[:: max(len(lines) // _LINES, 1)]) for lines in (flat, flat.T) if lines.shape[1] >= _LONG)


def _follows(lines: np.ndarray) -> bool:
    """By the two factors that are best for each line. No line counts for much more than the others."""
    import numpy as np

    lines = lines.astype(np.float64)
    sizes = np.abs(lines).max(axis=1)
    lines = lines[sizes > sizes.max(initial=0) * _SMALL] / (sizes.max(initial=0) or 1)
    first, second, third = lines[:, :-2], lines[:, 1:-1], lines[:, 2:]
    ff, fs, ss = ((a * b).sum(1) for a, b in ((first, first), (first, second), (second, second)))
    ft, st = (first * third).sum(1), (second * third).sum(1)
    divisor = ff * ss - fs * fs
    is_one = divisor <= 1e-9 * ff * ss
    safe = np.where(is_one, 1, divisor)
    on_first = np.where(is_one, 0, (ft * ss - st * fs) / safe)
    on_second = np.where(is_one, st * _inverse(ss), (st * ff - ft * fs) / safe)
    left = third - on_first[:, None] * first - on_second[:, None] * second
    energies = np.square(third).sum(1)
    counts = np.minimum(energies, _AT_MOST * np.median(energies)) if len(energies) else energies
    return float((np.square(left).sum(1) * _inverse(energies) * counts).sum()) < _UNFORESEEN * float(counts.sum())

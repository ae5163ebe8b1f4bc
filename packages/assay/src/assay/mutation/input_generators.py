"""Inputs that may show what the golden inputs do not: noise, other scales, smooth images, extremes, integers, walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.dtype import is_floating
from assay.core.input_plan import RangeSource
from assay.core.model import Model, TensorSpec
from assay.models.input_plan.draw_plan import plan_of
from assay.models.random_inputs import random_inputs

Array = np.ndarray[Any, Any]
Sample = dict[str, Array]

_MOST_ELEMENTS = 1 << 22
"""Of a sample that is made larger along its symbolic axes."""
_ROWS = 256
"""Of a sample for trees: each row comes to a few of many thresholds."""


@dataclass(frozen=True)
class Range:
    """What the known samples of one input hold."""

    low: float
    high: float
    mean: float
    deviation: float
    narrow: bool
    """An integer type of at most 8 bits: every value is legal (images). Wider ones may be indices: only seen values are."""


def ranges(samples: Sequence[Mapping[str, Array]]) -> dict[str, Range]:
    """By input, over all samples."""
    ranges_by_input = {}
    for name in samples[0]:
        parts = [np.asarray(sample[name]) for sample in samples]
        if parts[0].dtype == object or not any(part.size for part in parts):
            continue
        flat = np.concatenate([part.reshape(-1).astype(np.float64) for part in parts])
        flat = flat[np.isfinite(flat)] if np.isfinite(flat).any() else np.zeros(1)
        narrow = parts[0].dtype.kind in "iu" and parts[0].dtype.itemsize == 1
        spread = float(flat.std()) or abs(float(flat.mean())) or 1.0
        ranges_by_input[name] = Range(float(flat.min()), float(flat.max()), float(flat.mean()), spread, narrow)
    return ranges_by_input


InputGenerator = Callable[[Array, Range, np.random.Generator], Array]


def _cast(values: Any, like: Array, known: Range) -> Array:
    """Into the type of `like`: integers rounded and kept where they are legal."""
    if like.dtype.kind in "iu":
        low, high = (np.iinfo(like.dtype).min, np.iinfo(like.dtype).max) if known.narrow else (known.low, known.high)
        return np.asarray(np.clip(np.rint(values), low, high)).astype(like.dtype)
    return np.asarray(values).astype(like.dtype)


def _noise(scale: float) -> InputGenerator:
    return lambda x, known, rng: _cast(known.mean + scale * known.deviation * rng.standard_normal(x.shape), x, known)


def _walk(step: float) -> InputGenerator:
    def fill(x: Array, known: Range, rng: np.random.Generator) -> Array:
        stride = max(step * known.deviation, 1.0 if x.dtype.kind in "iu" else 0.0)
        return _cast(x.astype(np.float64) + stride * rng.standard_normal(x.shape), x, known)

    return fill


def _times(factor: float) -> InputGenerator:
    return lambda x, known, rng: _cast(x.astype(np.float64) * factor, x, known)


def _uniform(x: Array, known: Range, rng: np.random.Generator) -> Array:
    low, high = (0, 255) if known.narrow and x.dtype.kind == "u" else (known.low, known.high)
    return _cast(rng.uniform(low, high, x.shape), x, known)


def _smooth(x: Array, known: Range, rng: np.random.Generator) -> Array:
    ramp = np.zeros(x.shape)
    for axis in range(max(x.ndim - 2, 0), x.ndim):
        shape = [1] * x.ndim
        shape[axis] = -1
        ramp = ramp + rng.uniform(0.5, 1.0) * np.linspace(0, 1, x.shape[axis]).reshape(shape)
    return _cast(known.low + (known.high - known.low) * ramp / 2, x, known)


def _extremes(x: Array, known: Range, rng: np.random.Generator) -> Array:
    low, high = (0, 255) if known.narrow and x.dtype.kind == "u" else (known.low, known.high)
    return _cast(np.where(rng.random(x.shape) < 0.5, low, high), x, known)


def _integers(x: Array, known: Range, rng: np.random.Generator) -> Array:
    return _cast(np.rint(rng.uniform(known.low - 4, known.high + 4, x.shape)), x, known)


def _shuffled(x: Array, known: Range, rng: np.random.Generator) -> Array:
    return rng.permutation(x.reshape(-1)).reshape(x.shape)


def _flat(x: Array, known: Range, rng: np.random.Generator) -> Array:
    return _cast(np.full(x.shape, rng.uniform(known.low, known.high)), x, known)


def _rolled(x: Array, known: Range, rng: np.random.Generator) -> Array:
    return np.roll(x, 1, axis=-1) if x.ndim else x


def _flipped(x: Array, known: Range, rng: np.random.Generator) -> Array:
    return np.array(np.flip(x), order="C")


INPUT_GENERATORS: dict[str, InputGenerator] = {
    "noise": _noise(1.0),
    "large noise": _noise(8.0),
    "huge noise": _noise(100.0),
    "small noise": _noise(1e-2),
    "tiny noise": _noise(1e-4),
    "a golden sample, scaled up": _times(30.0),
    "a golden sample, scaled down": _times(1e-3),
    "a golden sample, negated": _times(-1.0),
    "uniform": _uniform,
    "a smooth ramp": _smooth,
    "a constant": _flat,
    "extremes": _extremes,
    "integers": _integers,
    "a golden sample, shuffled": _shuffled,
    "a golden sample, shifted": _rolled,
    "a golden sample, flipped": _flipped,
    "a golden sample with a little noise": _walk(0.1),
    "a golden sample with noise": _walk(1.0),
}


def filled(sample: Mapping[str, Array], fill: str, known: Mapping[str, Range], rng: np.random.Generator) -> Sample:
    """Every input of a sample filled again; text and booleans as far as they can be."""
    return {name: _fill_one(array, INPUT_GENERATORS[fill], known.get(name), rng) for name, array in sample.items()}


def _fill_one(array: Array, fill: InputGenerator, known: Range | None, rng: np.random.Generator) -> Array:
    if known is None:
        return array
    if array.dtype == np.bool_:
        return np.asarray(rng.random(array.shape) < rng.random()).astype(np.bool_)
    numbers = is_floating(array.dtype.name) or array.dtype.kind in "iu"
    return fill(array, known, rng) if numbers else array


def walked(sample: Mapping[str, Array], known: Mapping[str, Range], rng: np.random.Generator) -> Sample:
    """A step from a sample: some elements of each input drawn again, near or far."""
    step = _walk(float(rng.choice([0.1, 0.5, 2.0, 8.0])))
    share = float(rng.choice([0.1, 0.5, 1.0]))
    moved = {}
    for name, array in sample.items():
        new = _fill_one(array, step, known.get(name), rng)
        moved[name] = np.where(rng.random(array.shape) < share, new, array) if new is not array else array
    return moved


def enlarged(samples: Sequence[Mapping[str, Array]], specs: Sequence[TensorSpec]) -> Iterator[tuple[str, Sample]]:
    """Samples that use the symbolic axes: several items in one batch, longer sequences."""
    first = {spec.shape[0] for spec in specs if spec.shape}
    batched = len(first) == 1 and isinstance(next(iter(first)), str) and all(spec.shape for spec in specs)
    if batched and len(samples) > 1:
        for count in (2, 3):
            parts = [samples[place % len(samples)] for place in range(count)]
            if _alike(parts):
                yield f"a batch of {count}", {n: np.concatenate([part[n] for part in parts]) for n in samples[0]}
    symbols = dict.fromkeys(d for spec in specs for d in spec.shape[1:] if isinstance(d, str) and d not in first)
    for symbol in symbols:
        for factor in (2, 3, 17, 301):
            larger = {spec.name: _repeat(samples[0][spec.name], spec, symbol, factor) for spec in specs}
            if all(array.size <= _MOST_ELEMENTS for array in larger.values()):
                yield f"{factor} times as long in {symbol!r}", larger


def about_thresholds(model: Model, count: int, rng: np.random.Generator) -> list[Sample]:
    """So many samples of many rows, where trees read an input: of thresholds, of the numbers beside them, and of others about them."""
    plan = plan_of(model, batch=_ROWS, fixed={}, stated={})
    if plan.unmet is not None or all(known.source is not RangeSource.THRESHOLDS for known in plan.ranges.values()):
        return []
    return random_inputs(model, seed=int(rng.integers(1 << 31)), samples=count, batch=_ROWS, plan=plan)


def _alike(parts: Sequence[Mapping[str, Array]]) -> bool:
    return all({n: a.shape[1:] for n, a in p.items()} == {n: a.shape[1:] for n, a in parts[0].items()} for p in parts)


def _repeat(array: Array, spec: TensorSpec, symbol: str, factor: int) -> Array:
    for axis, dimension in enumerate(spec.shape):
        if dimension == symbol:
            array = np.concatenate([array] * factor, axis=axis)
    return array

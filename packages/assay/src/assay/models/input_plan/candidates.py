"""Other values of some inputs of a sample, by which a model may go another way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.core.input_plan import InputPlan, InputRange, RangeSource
from assay.core.model import Model, TensorSpec
from assay.models.input_plan.generate import WORDS, Array, draw_in_range
from assay.models.input_plan.graph import Graph, subgraphs
from assay.numerics.shapes.values import Value

_STEPS = (1.0, 3.0, 10.0, 100.0, 1000.0)
_WHOLE = (0, 1, 2, 3, 5, 10, -1, 100)
_OPEN = (RangeSource.COMPARED, RangeSource.NUMBERS, RangeSource.THRESHOLDS)
"""Ranges that are no bounds: the input may have other values."""
_DRAWN = 8
"""Samples of a range that are drawn again."""


def compared_numbers(graph: Graph) -> tuple[float, ...]:
    """Single stored numbers of the graph and its bodies that something is compared with, or that are added on the way there."""
    numbers: dict[float, None] = {}
    constants = dict(graph.constants)
    _collect(graph, constants, numbers)
    return tuple(numbers)


_COMPARING = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Sub", "Add", "Mod")


def _collect(graph: Graph, constants: dict[str, Value], numbers: dict[float, None]) -> None:
    constants = constants | graph.constants
    for node in graph.nodes:
        for name in node.inputs if node.op in _COMPARING else ():
            data = constants[name].data if name in constants else None
            if data is not None and data.size == 1 and data.dtype.kind in "iuf":
                numbers[float(data.reshape(-1)[0])] = None
        for body in subgraphs(node):
            _collect(body, constants, numbers)


def candidates(
    model: Model,
    plan: InputPlan,
    sample: Mapping[str, Array],
    names: Collection[str],
    numbers: Sequence[float],
    stream: np.random.Generator,
) -> Iterator[dict[str, Array]]:
    """What changes of the sample: one of `names` at a time, then all together. Values stay inside of the ranges of the plan.
    `numbers` are tried first."""
    specs = [spec for spec in model.inputs if spec.name in names and spec.name in sample]
    each = [list(_values(spec, plan.ranges.get(spec.name), sample[spec.name], numbers, stream)) for spec in specs]
    for spec, values in zip(specs, each, strict=True):
        yield from ({spec.name: value} for value in values)
    if len(specs) > 1:
        for at in range(max(map(len, each))):
            yield {spec.name: values[at % len(values)] for spec, values in zip(specs, each, strict=True)}
        for _ in range(4 * _DRAWN):
            yield {
                spec.name: values[int(stream.integers(len(values)))] for spec, values in zip(specs, each, strict=True)
            }


def _values(
    spec: TensorSpec, input_range: InputRange | None, now: Array, numbers: Sequence[float], stream: np.random.Generator
) -> Iterator[Array]:
    input_range = None if input_range is not None and input_range.source in _OPEN else input_range
    if spec.dtype == "string":
        texts = [*(input_range.texts if input_range is not None else ()), *WORDS]
        yield from (np.full(now.shape, text, object) for text in dict.fromkeys(texts))
    elif spec.dtype == "bool":
        yield from (np.full(now.shape, value) for value in (True, False))
    elif input_range is not None and input_range.exact:
        yield now
    elif input_range is not None:
        yield from _in_range(spec, input_range, now, numbers, stream)
    elif is_floating(spec.dtype):
        yield from _real(spec, now, numbers)
    else:
        whole = dict.fromkeys((*(int(number) + step for number in numbers for step in (0, 1, -1)), *_WHOLE))
        kind = numpy_dtype(spec.dtype)
        unsigned = spec.dtype.startswith("u")
        yield from (np.full(now.shape, value).astype(kind) for value in whole if value >= 0 or not unsigned)


def _in_range(
    spec: TensorSpec, input_range: InputRange, now: Array, numbers: Sequence[float], stream: np.random.Generator
) -> Iterator[Array]:
    kind = numpy_dtype(spec.dtype)
    low = -np.inf if input_range.low is None else input_range.low
    high = np.inf if input_range.high is None else input_range.high
    near = [number + step for number in numbers for step in (0.0, 1.0, -1.0)]
    ends = [
        end for end in (*input_range.choices, low, high, *near, 0.0, 1.0) if np.isfinite(end) and low <= end <= high
    ]
    yield from (np.full(now.shape, value).astype(kind) for value in dict.fromkeys(ends))
    yield from (draw_in_range(spec.dtype, now.shape, input_range, stream, sample) for sample in range(_DRAWN))


def _real(spec: TensorSpec, now: Array, numbers: Sequence[float]) -> Iterator[Array]:
    kind, wide = numpy_dtype(spec.dtype), now.astype(np.float64)
    for number in numbers:
        for step in (1.0, -1.0, 0.0):
            yield np.full(now.shape, number + step).astype(kind)
            yield (wide + number + step).astype(kind)
    yield from (array.astype(kind) for array in (np.abs(wide), -np.abs(wide), -wide, np.zeros(now.shape)))
    for step in _STEPS:
        yield from (array.astype(kind) for array in (wide + step, wide - step, wide * step, wide / (10 * step)))

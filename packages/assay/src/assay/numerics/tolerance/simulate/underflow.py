"""Numbers below the normal ones of their type lose digits in every engine, and some engines flush them to zero; scaled up again,
neither looks like rounding.

Where an output depends on them, more evaluations in double (`reach.Reaching`) tell between what it lies: with those numbers off by
two steps of the grid to either side, as in every engine, and with all of them zero. An engine's error is what it lies outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.errors import Lowering
from assay.numerics.oracle.hooks import Call, Hook, Values
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.numerics.tolerance.simulate.overflow import SAMPLES, STEPS, Reaching, past_probes, smallest_normal
from assay.ports import Tensor, Tensors

Samples = Sequence[Mapping[str, Tensor]]


class Small(Hook):
    """Notes whether any value lies below the normal numbers of the type that the model declares for it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.found = False

    def answer(self, call: Call, results: Values) -> Values:
        for name, value in zip(call.outputs, results, strict=False):
            if not self.found and isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
                self.found = bool(_is_small(np.asarray(value), self._graph.types.get(name, "float32")).any())
        return results


def _is_small(value: Tensor, dtype: str) -> Tensor:
    size = np.abs(value)
    return np.asarray((size > 0) & (size < smallest_normal(dtype)))


def underflown(
    proto: Any, inputs: Samples, actual: Samples, expected: Samples, arithmetic: Arithmetic, *, flushed: bool
) -> tuple[list[dict[str, Tensor]], dict[str, int]]:
    """`actual` with the error alone that numbers below the normal ones do not explain (`flushed`: nor flushing them to zero), and how
    many elements differ from `actual`, by output. Of the first samples; none where the model cannot be evaluated in double."""
    answers = [dict(sample) for sample in actual]
    counts: dict[str, int] = {}
    try:
        graph, once = past_probes(proto)
        for at, sample in enumerate(inputs[: min(SAMPLES, len(answers))]):
            ranged = _ranged(graph, once, sample, arithmetic, flushed=flushed)
            if len(ranged) == 1:
                continue
            for name, right in expected[at].items():
                answer = answers[at].get(name)
                if answer is None or np.asarray(answer).dtype.kind not in "fV" or name not in ranged[0]:
                    continue
                limits = [draw[name] for draw in ranged if draw[name].shape == answer.shape]
                if len(limits) == len(ranged):
                    answers[at][name], count = _outside(answer, np.asarray(right, np.float64), limits)
                    counts[name] = counts.get(name, 0) + count
    except Lowering:
        return [dict(sample) for sample in actual], {}
    return answers, {name: count for name, count in counts.items() if count}


def _ranged(
    graph: Graph,
    once: Callable[[Tensors, Hook], dict[str, Tensor]],
    sample: Tensors,
    arithmetic: Arithmetic,
    *,
    flushed: bool,
) -> list[dict[str, Tensor]]:
    """The exact outputs first; nothing else where no number is small."""
    small = Small(graph)
    ranges = [once(sample, small)]
    if not small.found and not any(
        _is_small(array, array.dtype.name).any() for array in sample.values() if array.dtype.kind == "f"
    ):
        return ranges
    ranges += [once(sample, Reaching(graph, arithmetic, steps, None)) for steps in (-STEPS, STEPS)]
    if flushed:
        ranges.append(
            once({name: _flushed(value) for name, value in sample.items()}, Reaching(graph, arithmetic, None, None))
        )
    return ranges


def _flushed(value: Tensor) -> Tensor:
    return (
        np.where(_is_small(value, value.dtype.name), np.zeros_like(value), value) if value.dtype.kind == "f" else value
    )


def _outside(actual: Tensor, expected: Tensor, limits: Sequence[Tensor]) -> tuple[Tensor, int]:
    """What is expected, off by as much as `actual` lies outside of what is between the limits; and how many elements that moves."""
    answer = actual.astype(np.float64)
    finite = [np.where(np.isfinite(limit), limit, limits[0]) for limit in limits]
    lowest, highest = np.minimum.reduce(finite), np.maximum.reduce(finite)
    with np.errstate(all="ignore"):
        error = answer - np.clip(answer, lowest, highest)
        moved = (
            (lowest < highest)
            & np.isfinite(answer)
            & np.isfinite(expected)
            & (np.abs(error) < np.abs(answer - expected))
        )
        return np.where(moved, expected + error, answer).astype(actual.dtype), int(moved.sum())

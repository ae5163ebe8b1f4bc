"""What trees compare the columns of an input with: numbers about these thresholds reach leaves of all kinds, others always the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from assay.core.dtype import is_floating
from assay.core.input_plan import InputRange, RangeSource
from assay.core.model import Model, TensorSpec
from assay.models.input_plan.graph import Graph
from assay.numerics.element_types import extremes
from assay.numerics.shapes.values import Node, Value

LEARNING = "ai.onnx.ml"
ENSEMBLES = ("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor")
_DTYPES = ("float", "int32", "int64")
"""Of inputs: those of eight and sixteen bits may be all that their type holds."""
_UNCHANGED = ("Cast", "Identity", "Imputer")
_LARGEST_WHOLE = float(np.nextafter(2.0**63, 0.0))
"""Of those that a double and an int64 both have."""
_OUTSIDE = 0.25
"""How far beyond the usual thresholds numbers reach, as a share of what these span."""
_MEMBER = 6
"""The mode of TreeEnsemble-5 that compares with a set, not with a threshold."""
_MOST_COLUMNS = 4096
"""Of further columns nothing is said: each costs two recorded numbers, and a place of a column may be any number."""

Array = np.ndarray[Any, Any]
Bounds = dict[int, tuple[float, float]]
"""By column of the last axis, between which numbers most thresholds lie."""


def threshold_ranges(graph: Graph, model: Model) -> dict[str, InputRange]:
    """By name of the input that trees read, directly or behind casts, a Scaler, an Imputer or a concatenation of columns."""
    bounds: dict[str, Bounds] = {}
    for node in reversed(graph.nodes):
        if node.domain == LEARNING and node.op in ENSEMBLES:
            _merge(bounds, node.inputs[0], _of_ensemble(node.attributes))
        elif (read := bounds.get(node.outputs[0] if node.outputs else "")) is not None:
            for name, columns in _read_through(node, read, graph):
                _merge(bounds, name, columns)
    specs = {spec.name: spec for spec in model.inputs if spec.dtype.startswith(_DTYPES)}
    within = {name: _within(bounds[name], spec) for name, spec in specs.items() if name in bounds}
    return {name: _range(columns) for name, columns in within.items() if columns}


def _within(columns: Bounds, spec: TensorSpec) -> Bounds:
    """Of columns that the input has, between numbers that its type has."""
    width = spec.shape[-1] if spec.shape else 0
    count = min(width, _MOST_COLUMNS) if isinstance(width, int) else _MOST_COLUMNS
    least, most = extremes(spec.dtype)
    most = most if is_floating(spec.dtype) else min(most, _LARGEST_WHOLE)
    return {
        at: (min(max(low, least), most), min(max(high, least), most))
        for at, (low, high) in columns.items()
        if at < count and not isnan(low) and not isnan(high)
    }


def _read_through(node: Node, read: Bounds, graph: Graph) -> list[tuple[str, Bounds]]:
    if node.op in _UNCHANGED:
        return [(node.inputs[0], read)]
    if node.op == "Scaler":
        scales, offsets = node.attributes.get("scale") or [1.0], node.attributes.get("offset") or [0.0]
        return [(node.inputs[0], {at: _unscaled(ends, _at(scales, at), _at(offsets, at)) for at, ends in read.items()})]
    if node.op in ("Concat", "FeatureVectorizer"):
        return _of_columns(node.inputs, read, graph)
    return []


def _of_columns(names: Sequence[str], read: Bounds, graph: Graph) -> list[tuple[str, Bounds]]:
    """Of columns that stand side by side; from the first of unknown width on nothing is known."""
    parts: list[tuple[str, Bounds]] = []
    begin = 0
    for name in names:
        width = (graph.declared.get(name) or ("?",))[-1]
        if not isinstance(width, int) or width < 1:
            break
        parts.append((name, {at - begin: ends for at, ends in read.items() if begin <= at < begin + width}))
        begin += width
    return parts


def _at(numbers: Sequence[float], column: int) -> float:
    return float(numbers[column] if column < len(numbers) else numbers[0])


def _unscaled(ends: tuple[float, float], scale: float, offset: float) -> tuple[float, float]:
    """Of what a Scaler reads, which gives (x - offset) * scale."""
    first, last = (end / scale + offset if scale else offset for end in ends)
    return min(first, last), max(first, last)


def _of_ensemble(attributes: Mapping[str, Any]) -> Bounds:
    columns = np.asarray(attributes.get("nodes_featureids") or [], np.int64)
    tensor = attributes.get("nodes_splits", attributes.get("nodes_values_as_tensor"))
    numbers = tensor.data if isinstance(tensor, Value) else attributes.get("nodes_values")
    modes = attributes.get("nodes_modes")
    modes = modes.data if isinstance(modes, Value) else modes
    if numbers is None or modes is None or not len(columns) == len(numbers) == len(modes):
        return {}
    thresholds = np.asarray(numbers, np.float64)
    inner = np.asarray([mode not in ("LEAF", _MEMBER) for mode in modes]) & np.isfinite(thresholds) & (columns >= 0)
    return {column: _between(numbers) for column, numbers in _by_column(columns[inner], thresholds[inner])}


def _by_column(columns: Array, numbers: Array) -> Iterator[tuple[int, Array]]:
    order = np.argsort(columns, kind="stable")
    each, firsts = np.unique(columns[order], return_index=True)
    return zip(
        each.tolist(), np.split(numbers[order], firsts[1:]), strict=False
    )  # of no columns there is one empty part


def _between(thresholds: Array) -> tuple[float, float]:
    """Of halves: what the largest numbers span is none."""
    low, high = (float(end) for end in np.percentile(thresholds / 2.0, (5, 95)))
    beyond = _OUTSIDE * (high - low) or max(0.5, _OUTSIDE * abs(low))
    return 2.0 * (low - beyond), 2.0 * (high + beyond)


def _merge(bounds: dict[str, Bounds], name: str, columns: Bounds) -> None:
    known = bounds.setdefault(name, {})
    for at, (low, high) in columns.items():
        first, last = known.get(at, (low, high))
        known[at] = (min(first, low), max(last, high))


def _range(columns: Bounds) -> InputRange:
    ends = [columns.get(at, (-1.0, 1.0)) for at in range(max(columns) + 1)]
    lows, highs = tuple(low for low, _ in ends), tuple(high for _, high in ends)
    return InputRange(min(lows), max(highs), lows=lows, highs=highs, source=RangeSource.THRESHOLDS)

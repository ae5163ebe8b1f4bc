"""What trees compare the columns of an input with: numbers about these thresholds, and those that nodes test for equality, come to several
leaves, where others may all come to the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
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
_EXACT = ("Identity", "Imputer", "Concat")
"""Behind these a number is on the side of a threshold on which it was. Any other may round it, and engines round in places of their own."""
_LARGEST_WHOLE = float(np.nextafter(2.0**63, 0.0))
"""Of those that a double and an int64 both have."""
_LARGEST_IN_FLOAT = 2.0**24
"""Up to here single precision, in which engines compare whole numbers, has all of them."""
_OUTSIDE = 0.25
"""How far beyond the usual thresholds numbers reach, as a share of what these span."""
_MEMBER = 6
"""The mode of TreeEnsemble-5 that compares with a set, not with a threshold."""
_EQUALITY = ("BRANCH_EQ", "BRANCH_NEQ", 4, 5)
_MOST_EQUALS = 64
"""Of a column: all of them are recorded."""
_MOST_ORDERED = 8
"""Of a column: thresholds of order that are among its numbers, each with the numbers beside it."""
_MOST_ORDERED_IN_ALL = 256
_MOST_COLUMNS = 4096
"""Of further columns nothing is said: each costs two recorded numbers, and what a tree calls a column may be any number."""

Array = np.ndarray[Any, Any]


class Column(NamedTuple):
    """Between which numbers most thresholds lie, those that nodes test for equality, and some that they test for order: a real number is
    none of them by chance, and `<` taken for `<=` shows nowhere else."""

    low: float
    high: float
    equals: tuple[float, ...] = ()
    ordered: tuple[float, ...] = ()


Bounds = dict[int, Column]
"""By column of the last axis."""


def threshold_ranges(graph: Graph, model: Model) -> dict[str, InputRange]:
    """By name of the input that trees read, directly or behind casts, a Scaler, an Imputer or a concatenation of columns."""
    bounds: dict[str, Bounds] = {}
    for node in reversed(graph.nodes):
        if node.domain == LEARNING and node.op in ENSEMBLES:
            _merge(bounds, node.inputs[0], _of_ensemble(node.attributes))
        elif (read := bounds.get(node.outputs[0] if node.outputs else "")) is not None:
            for name, columns in _read_through(node, read, graph):
                _merge(bounds, name, columns if node.op in _EXACT else _unordered(columns))
    specs = {spec.name: spec for spec in model.inputs if spec.dtype.startswith(_DTYPES)}
    within = {name: _within(bounds[name], spec) for name, spec in specs.items() if name in bounds}
    return {name: _range(columns) for name, columns in within.items() if columns}


def _unordered(columns: Bounds) -> Bounds:
    return {at: column._replace(ordered=()) for at, column in columns.items()}


def _within(columns: Bounds, spec: TensorSpec) -> Bounds:
    """Of columns that the input has, between numbers that its type has."""
    width = spec.shape[-1] if spec.shape else 0
    count = min(width, _MOST_COLUMNS) if isinstance(width, int) else _MOST_COLUMNS
    least, most = extremes(spec.dtype)
    most = most if is_floating(spec.dtype) else min(most, _LARGEST_WHOLE)
    kept = {
        at: column for at, column in columns.items() if at < count and not isnan(column.low) and not isnan(column.high)
    }
    each = min(_MOST_ORDERED, _MOST_ORDERED_IN_ALL // max(len(kept), 1))
    return {
        at: Column(
            min(max(column.low, least), most),
            min(max(column.high, least), most),
            tuple(
                number
                for number in (*column.equals, *_beside(column.ordered, each, spec.dtype))
                if least <= number <= most
            ),
        )
        for at, column in kept.items()
    }


def _beside(thresholds: Iterable[float], most: int, dtype: str) -> tuple[float, ...]:
    """Some of them, as the type has them, and the next numbers on both sides; none so small that an engine may flush it to zero."""
    kind = numpy_dtype(dtype)
    if kind.kind not in "fiu":
        return ()
    some = np.asarray(_few(thresholds, most), np.float64)
    if kind.kind != "f":
        numbers = np.concatenate([np.rint(some) + step for step in (-1, 0, 1)])
        numbers = numbers[np.abs(numbers) <= _LARGEST_IN_FLOAT]
    else:
        with np.errstate(over="ignore"):
            held = some.astype(kind)
            numbers = np.concatenate(
                [np.nextafter(held, kind.type(-np.inf)), held, np.nextafter(held, kind.type(np.inf))]
            )
        numbers = numbers[np.isfinite(numbers) & ((numbers == 0) | (np.abs(numbers) >= np.finfo(kind).tiny))]
    return tuple(np.unique(numbers.astype(np.float64)).tolist())


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


def _unscaled(column: Column, scale: float, offset: float) -> Column:
    """Of what a Scaler reads, which gives (x - offset) * scale."""
    first, last, *equals = (end / scale + offset if scale else offset for end in (*column[:2], *column.equals))
    return Column(min(first, last), max(first, last), tuple(equals))


def _of_ensemble(attributes: Mapping[str, Any]) -> Bounds:
    columns = np.asarray(attributes.get("nodes_featureids") or [], np.int64)
    tensor = attributes.get("nodes_splits", attributes.get("nodes_values_as_tensor"))
    numbers = tensor.data if isinstance(tensor, Value) else attributes.get("nodes_values")
    modes = attributes.get("nodes_modes")
    modes = modes.data if isinstance(modes, Value) else modes
    if numbers is None or modes is None or not len(columns) == len(numbers) == len(modes):
        return {}
    thresholds = np.asarray(numbers, np.float64)
    inner = _which(modes, lambda mode: mode not in ("LEAF", _MEMBER)) & np.isfinite(thresholds)
    sets, members = _members(attributes, columns[_which(modes, lambda mode: mode == _MEMBER)])
    at = np.concatenate([columns[inner], sets])
    compared = np.concatenate([thresholds[inner], members])
    equal = np.concatenate([_which(modes, lambda mode: mode in _EQUALITY)[inner], np.ones(len(members), bool)])
    return {
        column: Column(
            *_between(compared[nodes]),
            _few(compared[nodes][equal[nodes]]),
            _few(compared[nodes][~equal[nodes]], _MOST_ORDERED),
        )
        for column, nodes in _by_column(at)
        if column >= 0
    }


def _which(modes: Iterable[Any], holds: Callable[[Any], bool]) -> Array:
    return np.asarray([holds(mode) for mode in modes], bool)


def _members(attributes: Mapping[str, Any], columns: Array) -> tuple[Array, Array]:
    """The column and the number of each member of the sets that nodes compare these columns with: a NaN ends each set."""
    tensor = attributes.get("membership_values")
    numbers = np.asarray(tensor.data if isinstance(tensor, Value) and tensor.data is not None else [], np.float64)
    sets = np.cumsum(np.isnan(numbers))
    known = np.isfinite(numbers) & (sets < len(columns))
    return columns[sets[known]], numbers[known]


def _few(numbers: Iterable[float], most: int = _MOST_EQUALS) -> tuple[float, ...]:
    """At most so many, from the least to the largest."""
    each = np.unique(np.asarray(numbers, np.float64))
    places = np.linspace(0, len(each) - 1, most).astype(int) if len(each) > most else slice(None)
    return tuple(each[places].tolist())


def _by_column(columns: Array) -> Iterator[tuple[int, Array]]:
    """Each column with its places."""
    order = np.argsort(columns, kind="stable")
    each, firsts = np.unique(columns[order], return_index=True)
    return zip(each.tolist(), np.split(order, firsts[1:]), strict=False)  # of no columns there is one empty part


def _between(thresholds: Array) -> tuple[float, float]:
    """Of halves: what the largest numbers span is none."""
    low, high = (float(end) for end in np.percentile(thresholds / 2.0, (5, 95)))
    beyond = _OUTSIDE * (high - low) or max(0.5, _OUTSIDE * abs(low))
    return 2.0 * (low - beyond), 2.0 * (high + beyond)


def _merge(bounds: dict[str, Bounds], name: str, columns: Bounds) -> None:
    known = bounds.setdefault(name, {})
    for at, column in columns.items():
        other = known.get(at, column)
        equals = _few([*other.equals, *column.equals])
        ordered = _few([*other.ordered, *column.ordered], _MOST_ORDERED)
        known[at] = Column(min(other.low, column.low), max(other.high, column.high), equals, ordered)


def _range(columns: Bounds) -> InputRange:
    lows, highs, equals, _ = zip(*(columns.get(at, Column(-1.0, 1.0)) for at in range(max(columns) + 1)), strict=True)
    equals = equals if any(equals) else ()
    return InputRange(min(lows), max(highs), lows=lows, highs=highs, equals=equals, source=RangeSource.THRESHOLDS)

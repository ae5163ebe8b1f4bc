"""What operators ask of the values that they are given, whatever becomes of their outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

from assay.models.input_plan.graph import Node, Value
from assay.models.input_plan.requirements import COUNT, INDEX, LENGTH, MASK, UNIQUE, Need

Demands = Iterator[tuple[int, Need]]
Demand = Callable[[Node, Sequence[Value]], Demands]
_TABLE: dict[str, Demand] = {}

TINY = 0.01
"""How far from a pole a value stays."""
MOST_TRIPS = 4
LARGE_FACTOR = 1000.0
"""A factor that turns 1 into "never" before a softmax, and 0 into "always"."""


def demanded(node: Node, inputs: Sequence[Value]) -> Demands:
    """(place of the input, what it must hold)."""
    found = _TABLE.get(node.op)
    if found is not None:
        yield from ((place, _named(need, node)) for place, need in found(node, inputs))


def _named(need: Need, node: Node) -> Need:
    return replace(need, why=f"{node.op} '{node.label}'")


def demands(*operators: str) -> Callable[[Demand], Demand]:
    """Registers what these operators ask."""

    def register(one: Demand) -> Demand:
        _TABLE.update(dict.fromkeys(operators, one))
        return one

    return register


def size_of(inputs: Sequence[Value], place: int, axis: int) -> int | None:
    """Of one axis of an input; None where it is not known."""
    shape = inputs[place].shape if place < len(inputs) else None
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _index(size: int | None, kind: str = INDEX) -> Need:
    """Into an axis of this size; of one that nobody knows, only the first place is sure."""
    return Need(0, 0 if size is None else max(size - 1, 0), kind)


@demands("Gather", "GatherElements")
def _gather(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, _index(size_of(inputs, 0, node.attributes.get("axis", 0)))


@demands("Scatter", "ScatterElements")
def _scatter(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, _index(size_of(inputs, 0, node.attributes.get("axis", 0)), UNIQUE)


@demands("GatherND", "ScatterND")
def _several(node: Node, inputs: Sequence[Value]) -> Demands:
    skipped = node.attributes.get("batch_dims", 0)
    length = size_of(inputs, 1, -1)
    sizes = [size_of(inputs, 0, skipped + one) for one in range(length or 1)]
    known = [one for one in sizes if one is not None]
    yield 1, _index(min(known) if len(known) == len(sizes) else None, INDEX if node.op == "GatherND" else UNIQUE)


@demands("EmbedLayerNormalization", "QEmbedLayerNormalization")
def _embed(node: Node, inputs: Sequence[Value]) -> Demands:
    for place, table in ((0, 2), (1, 4)):
        yield place, _index(size_of(inputs, table, 0))
    yield 7, Need(0, 1, MASK)


@demands("GatherBlockQuantized")
def _rows(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, _index(size_of(inputs, 0, node.attributes.get("gather_axis", 0)))


@demands("OneHot")
def _one_hot(node: Node, inputs: Sequence[Value]) -> Demands:
    depth = inputs[1].data
    yield 0, _index(None if depth is None else int(depth.reshape(-1)[0]))
    yield 1, Need(2, 16, COUNT)


@demands("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM")
def _steps(node: Node, inputs: Sequence[Value]) -> Demands:
    steps = size_of(inputs, 0, 1 if node.attributes.get("layout") else 0)
    yield 4, Need(1, steps or 1, LENGTH)


@demands("ReverseSequence")
def _reversed(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(1, size_of(inputs, 0, node.attributes.get("time_axis", 0)) or 1, LENGTH)


@demands("TopK")
def _top(node: Node, inputs: Sequence[Value]) -> Demands:
    size = size_of(inputs, 0, node.attributes.get("axis", -1)) or 1
    yield 1, Need(min(2, size), size, COUNT)


@demands("Range")
def _range(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(0, 2, COUNT)
    yield 1, Need(4, 16, COUNT)
    yield 2, Need(1, 2, COUNT)


@demands("Loop")
def _loop(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(1, MOST_TRIPS, COUNT)
    yield 1, Need(1, 1, COUNT)


@demands("ConstantOfShape", "Tile")
def _sizes(node: Node, inputs: Sequence[Value]) -> Demands:
    yield (0 if node.op == "ConstantOfShape" else 1), Need(1, 4, COUNT)


@demands("Expand", "Reshape")
def _shape(node: Node, inputs: Sequence[Value]) -> Demands:
    """The shape that it has, where the rank stays; else everything on the first axis."""
    shape, count = inputs[0].shape, size_of(inputs, 1, 0)
    if shape is None or count is None:
        return
    if len(shape) == count and None not in shape:
        yield 1, Need(1, inf, COUNT, exact=tuple(float(one or 0) for one in shape))
    elif node.op == "Reshape":
        yield 1, Need(-1, 1, COUNT, exact=(-1.0, *[1.0] * (count - 1)))
    else:
        yield 1, Need(1, 1, COUNT)


@demands("CumSum", "CumProd")
def _axis(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape
    yield 1, Need(0, max(len(shape or (1,)) - 1, 0), COUNT)


@demands("Slice")
def _slice(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape or (1,)
    axes = inputs[3].data if len(inputs) > 3 and node.inputs[3] else None
    chosen = [int(one) for one in axes.reshape(-1)] if axes is not None else list(range(len(shape)))
    sizes = [shape[one] for one in chosen if -len(shape) <= one < len(shape)]
    least = min((one for one in sizes if one is not None), default=1)
    fixed = inputs[1].data if len(inputs) > 1 else None
    start = max((int(one) for one in fixed.reshape(-1)), default=0) if fixed is not None else max(least // 2 - 1, 0)
    yield 1, Need(0, max(least // 2 - 1, 0), COUNT)
    yield 2, Need(min(start + 1, least), least, COUNT)
    count = size_of(inputs, 1, 0) or 1
    yield 3, _all(count)
    yield 4, Need(1, 1, COUNT)


@demands("Pad")
def _pad(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape
    ends: tuple[float, ...] = ()
    if node.attributes.get("mode", "constant") != "constant" and shape is not None and None not in shape:
        # What is reflected is longer than its border.
        ends = tuple(float((one or 0) > 1) for one in shape) * 2
    yield 1, Need(0, 1, COUNT, exact=ends)
    yield 3, _all(size_of(inputs, 3, 0) or 1)


@demands("Split")
def _split(node: Node, inputs: Sequence[Value]) -> Demands:
    size, count = size_of(inputs, 0, node.attributes.get("axis", 0)), len(node.outputs)
    if size is not None and count:
        parts = [float(size // count)] * (count - 1)
        yield 1, Need(1, size, COUNT, exact=(*parts, size - sum(parts)))


def _all(count: int) -> Need:
    """The first axes, so many as there are places."""
    return Need(0, count - 1, COUNT, exact=tuple(map(float, range(count))))


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


@demands("Squeeze", "Unsqueeze", *(f"Reduce{one}" for one in _REDUCTIONS))
def _axes(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, _all(size_of(inputs, 1, 0) or 1)


@demands("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _labels(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, _index(size_of(inputs, 0, 1))


@demands("ArrayFeatureExtractor")
def _features(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, _index(size_of(inputs, 0, -1))


@demands("SplitToSequence")
def _pieces(node: Node, inputs: Sequence[Value]) -> Demands:
    size, count = size_of(inputs, 0, node.attributes.get("axis", 0)), size_of(inputs, 1, 0)
    if size is not None:
        parts = [float(size // count)] * (count - 1) if count else []
        yield 1, Need(1, size, COUNT, exact=(*parts, size - sum(parts)) if count else ())


@demands("Attention")
def _attended(node: Node, inputs: Sequence[Value]) -> Demands:
    """How many keys of each item count."""
    yield 6, Need(1, size_of(inputs, 1, -2) or 1, LENGTH)


@demands("GroupQueryAttention")
def _grouped(node: Node, inputs: Sequence[Value]) -> Demands:
    """The whole length of every row, the new tokens behind the earlier ones; without padding."""
    new, before = size_of(inputs, 0, 1), size_of(inputs, 3, 2) or 0
    if new is not None:
        yield 5, Need(before + new - 1, before + new - 1, LENGTH)
        yield 6, Need(before + new, before + new, COUNT)
        yield 9, Need(before, before, INDEX) if new == 1 else _index(size_of(inputs, 7, 0))


@demands("RotaryEmbedding")
def _positions(node: Node, inputs: Sequence[Value]) -> Demands:
    place, table = (1, 2) if node.domain else (3, 1)
    size = size_of(inputs, table, 0)
    if size_of(inputs, table, 1) is not None and len(inputs[table].shape or ()) == 2:
        first = node.domain and len(inputs[place].shape or ()) == 1  # of the first token: the others follow
        tokens = size_of(inputs, 0, -2 if len(inputs[0].shape or ()) == 4 else 1) or 1
        yield place, _index(max((size or 1) - tokens + 1, 1) if first else size)


@demands("TensorScatter")
def _written(node: Node, inputs: Sequence[Value]) -> Demands:
    axis = node.attributes.get("axis", -2)
    whole, part = size_of(inputs, 0, axis) or 1, size_of(inputs, 1, axis) or 1
    yield 2, Need(0, max(whole - part, 0), INDEX)


@demands("Resize")
def _resize(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape
    known = shape is not None and None not in shape
    sizes = [float(one or 0) for one in shape or ()]
    yield 2, Need(1.0, 2.0, COUNT, exact=(1.0, 1.0, *[2.0] * (len(sizes) - 2)) if known else ())
    yield 3, Need(4, 16, COUNT, exact=(*sizes[:2], *(2 * one for one in sizes[2:])) if known else ())


@demands("Upsample")
def _upsample(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(1.0, 2.0, COUNT)


@demands("NonMaxSuppression")
def _suppression(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(0.0, 1.0)
    yield 1, Need(0.0, 1.0)
    yield 2, Need(1, 10, COUNT)
    yield 3, Need(0.3, 0.7, COUNT)
    yield 4, Need(0.0, 0.3, COUNT)


@demands("RoiAlign", "MaxRoiPool")
def _regions(node: Node, inputs: Sequence[Value]) -> Demands:
    scale = node.attributes.get("spatial_scale", 1.0) or 1.0
    yield 1, Need(0.0, max((size_of(inputs, 0, -1) or 2) - 1, 1) / scale)
    yield 2, _index(size_of(inputs, 0, 0))


@demands("CropAndResize")
def _crops(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.0, 1.0)
    yield 2, _index(size_of(inputs, 0, 0))
    yield 3, Need(2, 8, COUNT)


@demands("GridSample")
def _grid(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(-1.0, 1.0)

"""Inputs of whole numbers that a model takes for numbers, not for places, sizes, lengths or masks: negative and large ones, too.

One walk from the end. It is careful: a value of which any reader is not known is none, and stays 0 to 9.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence

from assay.core.input_plan import InputRange, RangeSource
from assay.core.model import Model
from assay.models.input_plan.graph import Graph, subgraphs
from assay.models.input_plan.value_ranges import demanded
from assay.numerics.operators.index import record_of
from assay.numerics.operators.record import LEARNING
from assay.numerics.shapes.needed_values import ASCENDING, COUNT, INDEX, LENGTH, MAGNITUDE, MASK, UNIQUE
from assay.numerics.shapes.values import UNKNOWN, Node, Value

Values = Mapping[str, Value]


class Use(enum.Flag):
    """What becomes of a value, all that reads it together."""

    NOTHING = 0
    STEERS = enum.auto()
    """It is, or may be, a place, a size, a length, a mask, or what a loop or a branch goes by."""
    UNSURE = enum.auto()
    """It may be a mask or a length: it scales what a network computed, or is compared with more than one number."""
    REAL = enum.auto()
    """Real numbers are made of it."""
    SUM = enum.auto()
    """It is compared, or whole numbers of its size are made of it."""
    PRODUCT = enum.auto()
    """Products of it are whole numbers, or long sums."""


_DOUBTS = Use.STEERS | Use.UNSURE
# fmt: off
_MOVED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Slice", "Split", "Expand", "Tile", "Gather",
                     "GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth", "Compress", "ReverseSequence", "Trilu"), (0,)),
    "Pad": (0, 2), "ScatterElements": (0, 2), "ScatterND": (0, 2), "Scatter": (0, 2), "OneHot": (2,), "Where": (1, 2),
}
"""Places whose numbers an operator gives on as they are."""
_ALL_MOVED = ("Concat", "Not", "And", "Or", "Xor")
_SUMS = ("Abs", "Neg", "Sign", "Add", "Sub", "Sum", "Max", "Min", "Relu", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
         "ReduceMax", "ReduceMin", "Floor", "Ceil", "Round")
_PRODUCTS = ("Mul", "MatMul", "Gemm", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceSumSquare", "CumSum", "Pow")
_COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual")
_REAL_PLACES: dict[tuple[str, str], tuple[int, ...]] = {
    **{("", name): (0,) for name in ("DequantizeLinear", "QLinearConv")},
    **{("", name): (0, 1) for name in ("MatMulInteger", "ConvInteger")},
    ("", "QLinearMatMul"): (0, 3),
    **{(LEARNING, name): (0,) for name in (
        "Scaler", "Normalizer", "LinearClassifier", "LinearRegressor", "SVMClassifier", "SVMRegressor", "TreeEnsemble",
        "TreeEnsembleClassifier", "TreeEnsembleRegressor")},
}
# fmt: on
"""Places at which whole numbers stand for real ones."""
_REAL_TYPES = (1, 10, 11, 16)
"""float32, float16, float64 and bfloat16, as Cast names them (TensorProto.DataType)."""
_WIDE_TYPES = (5, 6, 7)
"""int16, int32 and int64."""
_STEERING = frozenset({MASK, LENGTH, INDEX, COUNT, UNIQUE, ASCENDING})

_OF_REAL = 255
"""What bfloat16 still holds, and float16 can sum."""
_LARGEST_REAL = 32767
"""Of what has sixteen bits, as recorded sound has; float16 holds it."""
_LARGEST = {2: (1, 1), 4: (7, 1), 8: (9, 5), 16: (1000, 9), 32: (32767, 9), 64: (32767, 9)}
"""By the bits of a type: of sums and of products, so that a few of them one after the other, and sums of millions, stay
inside 32 bits. What leaves its type has no one answer: engines wrap around, or stay at the bound."""


def number_ranges(graph: Graph, values: Values, model: Model) -> dict[str, InputRange]:
    """By name of the input, where all that reads it takes numbers. `values` are what is known of the tensors of the graph."""
    uses = _Walk(graph, values).uses()
    ranges = {spec.name: _range(spec.dtype, uses.get(spec.name, Use.NOTHING)) for spec in model.inputs}
    return {name: input_range for name, input_range in ranges.items() if input_range is not None}


def _range(dtype: str, use: Use) -> InputRange | None:
    kind = dtype.removeprefix("u")
    if not use or Use.STEERS in use or not kind.startswith("int"):
        return None
    bits, signed = int(kind.removeprefix("int")), kind == dtype
    use = use & ~Use.UNSURE if bits <= 8 else use  # masks and lengths have more
    if Use.UNSURE in use:
        return None
    if use is Use.REAL and bits <= 16:
        high = min(2 ** (bits - signed) - 1, _LARGEST_REAL)
        return InputRange(-(2.0 ** (bits - 1)) if signed else 0.0, float(high), source=RangeSource.TYPE)
    if bits <= 8 and not signed:
        return None  # 0 to 9, as any other
    most = _OF_REAL if use is Use.REAL else _LARGEST[bits][Use.PRODUCT in use]
    most = min(most, _OF_REAL) if Use.REAL in use else most
    return InputRange(float(-most if signed else 0), float(most), MAGNITUDE, source=RangeSource.NUMBERS)


class _Walk:
    """`_whole` and `_real` are what becomes of a value by name, if it is one of whole numbers, and if it is one of real ones."""

    def __init__(self, graph: Graph, values: Values) -> None:
        self._graph, self._values = graph, values
        self._whole: dict[str, Use] = {}
        self._real: dict[str, Use] = {}
        self._computed = _computed(graph)
        self._made = frozenset(name for node in graph.nodes for name in node.outputs)

    def uses(self) -> dict[str, Use]:
        """Of values of whole numbers."""
        for node in reversed(self._graph.nodes):
            if any(True for _ in subgraphs(node)):
                self._add((*node.inputs, *_outer_names(node)), Use.STEERS, Use.STEERS)
                continue
            inputs = [self._values.get(name, UNKNOWN) if name else UNKNOWN for name in node.inputs]
            steering = {place for place, need in demanded(node, inputs) if need.kind in _STEERING}
            steering.update(record_of(node.op).steers)
            for place, name in enumerate(node.inputs):
                whole, real = (Use.STEERS, Use.STEERS) if place in steering else self._read(node, place)
                self._add((name,), whole, real)
        return self._whole

    def _add(self, names: Iterable[str], whole: Use, real: Use) -> None:
        for name in names:
            self._whole[name] = self._whole.get(name, Use.NOTHING) | whole
            self._real[name] = self._real.get(name, Use.NOTHING) | real

    def _read(self, node: Node, place: int) -> tuple[Use, Use]:
        """Of the input at a place that does not steer: if it is of whole numbers, and if it is of real ones."""
        # The places that TopK gives beside its numbers, and ArgMax, are in range whatever the numbers are.
        whole, real = self._passed(node.outputs[:1] if node.op == "TopK" else node.outputs)
        if place in _REAL_PLACES.get((node.domain, node.op), ()):
            return Use.REAL | real, Use.NOTHING
        if node.domain:
            return Use.STEERS, Use.NOTHING
        if node.op in _ALL_MOVED or place in _MOVED.get(node.op, ()):
            return whole, real
        if (node.op == "Where" and place == 0) or record_of(node.op).reads_sizes:
            return Use.NOTHING, Use.NOTHING
        if node.op == "Cast":
            return self._cast(node, whole, real)
        if node.op in _COMPARISONS or node.op == "Equal":
            known = self._compared_with_number(node, place)
            use = Use.NOTHING if node.op == "Equal" else Use.SUM if known else Use.UNSURE
            return whole & _DOUBTS | use, whole & _DOUBTS | use & _DOUBTS
        if node.op in ("ArgMax", "ArgMin"):
            return Use.SUM, Use.NOTHING
        if node.op in _SUMS or (node.op in ("TopK", "Clip", "Div", "Mod") and place == 0):
            return Use.SUM | whole, real
        if node.op in ("Div", "Mod", "Pow") and place == 1:
            return Use.STEERS, real  # a divisor of zero and a negative exponent have no answer
        if node.op in _PRODUCTS:
            # What is multiplied with something that a network computed may be a mask.
            scales = node.op == "Mul" and any(name in self._computed for name in node.inputs)
            return Use.PRODUCT | whole, real | (Use.UNSURE if scales else Use.NOTHING)
        return Use.STEERS, Use.NOTHING

    def _passed(self, names: Sequence[str]) -> tuple[Use, Use]:
        whole = real = Use.NOTHING
        for name in names:
            whole |= self._whole.get(name, Use.NOTHING)
            real |= self._real.get(name, Use.NOTHING)
        return whole, real & _DOUBTS

    def _cast(self, node: Node, whole: Use, real: Use) -> tuple[Use, Use]:
        to = node.attributes.get("to")
        if to in _REAL_TYPES:
            return Use.REAL | real, real
        # To fewer bits or to unsigned ones other numbers than small ones have no one answer.
        return (whole, whole & _DOUBTS) if to in _WIDE_TYPES else (Use.STEERS, Use.UNSURE)

    def _compared_with_number(self, node: Node, place: int) -> bool:
        """With one stored number, or with another input of the same shape: a row of places is compared with a length."""
        mine, other = node.inputs[place], node.inputs[1 - place]
        data = self._values.get(other, UNKNOWN).data
        if data is not None and other not in self._made:  # a row of places may have but one at these sizes
            return data.size == 1
        declared = self._graph.declared
        shape = declared.get(mine)
        return other in declared and bool(shape) and declared[other] == shape


def _computed(graph: Graph) -> frozenset[str]:
    """Values that are made by more than arithmetic, element by element, of inputs and stored numbers."""
    simple = {
        *_MOVED,
        *_ALL_MOVED,
        *_SUMS,
        *_PRODUCTS,
        *_COMPARISONS,
        "Div",
        "Mod",
        "Equal",
        "Cast",
        "Clip",
        "Shape",
    } - {
        "Gather",
        "MatMul",
        "Gemm",
    }
    computed: set[str] = set()
    for node in graph.nodes:
        if node.domain or node.op not in simple or any(name in computed for name in node.inputs):
            computed.update(node.outputs)
    return frozenset(computed)


def _outer_names(node: Node) -> Iterable[str]:
    """What the bodies of a node may read of the values around it."""
    for body in subgraphs(node):
        yield from body.outputs
        for inner in body.nodes:
            yield from inner.inputs
            yield from _outer_names(inner)

"""Normalisation along the last axes, of a sum with what was skipped, or of embeddings (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.mutations import EPSILON
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, broadcast
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import MASK, Demands, Need, index_into, size_of
from assay.numerics.shapes.values import UNKNOWN, Node, Value

_SKIP_EPSILON = 1e-12


def _axes(body: Body, x: str, axis: int) -> list[int]:
    """From `axis` on, counted from the end."""
    return list(range(axis if axis < 0 else axis - body.rank(x), 0))


def _layer(body: Body, x: str, scale: str, bias: str, epsilon: float, axis: int = -1) -> tuple[str, str, str]:
    """The result, the mean, and one over the deviation. Scale and bias may be left out."""
    if body.version >= 17 and scale:
        y, mean, inverse = body.several("LayerNormalization", [x, scale, bias], 3, epsilon=epsilon, axis=axis)
        return y, mean, inverse
    axes = _axes(body, x, axis)
    mean = body.mean(x, *axes)
    centred = body.step("Sub", x, mean)
    y, inverse = _over_deviation(body, centred, centred, epsilon, axes)
    return body.add(body.step("Mul", y, scale) if scale else y, bias), mean, inverse


def _over_deviation(body: Body, x: str, of: str, epsilon: float, axes: list[int]) -> tuple[str, str]:
    """`x` over the root of the mean square of `of`, and one over that root."""
    square = body.mean(body.step("Mul", of, of), *axes)
    root = body.step("Sqrt", body.step("Add", square, body.number(epsilon, x)))
    return body.step("Div", x, root), body.step("Reciprocal", root)


def layer_normalization(body: Body) -> None:
    """ONNX Runtime knows it at every opset, in the domain of the standard."""
    epsilon, axis = body.attribute("epsilon", 1e-5), body.attribute("axis", -1)
    for position, value in enumerate(_layer(body, body.input(0), body.input(1), body.input(2), epsilon, axis)):
        body.give(value, position)


def simplified(body: Body) -> None:
    """x / sqrt(mean x^2 + epsilon) scale."""
    x = body.input(0)
    axes = _axes(body, x, body.attribute("axis", -1))
    y, inverse = _over_deviation(body, x, x, body.attribute("epsilon", 1e-5), axes)
    body.give(body.step("Mul", y, body.input(1)))
    body.give(inverse, 1)


def _skip(body: Body) -> None:
    """Of input + skip + bias, which is the last output."""
    x = body.add(body.add(body.input(0), body.input(1)), body.input(4))
    normalized = _layer(body, x, body.input(2), body.input(3), body.attribute("epsilon", _SKIP_EPSILON))
    for position, value in enumerate((*normalized, x)):
        body.give(value, position)


def _skip_simplified(body: Body) -> None:
    x = body.add(body.add(body.input(0), body.input(1)), body.input(3))
    y, inverse = _over_deviation(body, x, x, body.attribute("epsilon", _SKIP_EPSILON), [-1])
    body.give(body.step("Mul", y, body.input(2)))
    body.give(inverse, 2)
    body.give(x, 3)


def embedded(body: Body, words: str, segments: str, positions: str, tables: Sequence[str]) -> str:
    """The sum of what each word, its position and its segment have in their tables."""
    if positions:
        place = body.step("Gather", tables[1], positions)
    else:
        length = body.step("Gather", body.step("Shape", words), body.whole(1))
        place = body.step("Slice", tables[1], body.whole(0), length, body.whole(0))
    total = body.step("Add", body.step("Gather", tables[0], words), place)
    return body.step("Add", total, body.step("Gather", tables[2], segments)) if segments else total


def normalized_embedding(body: Body, total: str, scale: str, bias: str, *, mask: str) -> None:
    """Of that sum; and how many tokens of each row the mask holds."""
    body.give(_layer(body, total, scale, bias, body.attribute("epsilon", _SKIP_EPSILON))[0])
    if body.gives(1):
        words = body.input(0)
        count = body.total(mask or body.step("Sub", words, words), 1)
        body.give(body.step("Cast", count, to=6), 1)


def _embedding(body: Body) -> None:
    tables = [body.input(at) for at in (2, 3, 4)]
    total = embedded(body, body.input(0), body.input(1), body.input(8), tables)
    normalized_embedding(body, total, body.input(5), body.input(6), mask=body.input(7))
    body.give(total, 2)


def _skipped_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    broadcast((inputs[0].shape, at(inputs, 1).shape))
    shape = inputs[0].shape
    packed = shape is not None and len(shape) != 3
    return [UNKNOWN if packed else Value(shape), *[UNKNOWN] * (len(node.outputs) - 1)]


def _embedded_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, table, places = inputs[0].shape, at(inputs, 2).shape, at(inputs, 3).shape
    if shape is None or table is None:
        return [UNKNOWN] * len(node.outputs)
    if places and places[0] is not None and shape[1] is not None and shape[1] > places[0]:
        raise Conflict(ConstraintCode.POSITIONS, (shape[1], places[0]), positions=shape[1], places=places[0])
    return [Value((*shape, table[1])), Value(shape[:1]), *[UNKNOWN] * (len(node.outputs) - 2)]


def embedding_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    for place, table in ((0, 2), (1, 4)):
        yield place, index_into(size_of(inputs, table, 0))
    yield 7, Need(0, 1, MASK)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "SkipLayerNormalization",
        domain=MICROSOFT,
        decomposition=_skip,
        shape=_skipped_shape,
        mutations=EPSILON | {"norm-to-zeros"},
    ),
    *alike("SkipSimplifiedLayerNormalization", domain=MICROSOFT, decomposition=_skip_simplified, shape=_skipped_shape),
    *alike(
        "EmbedLayerNormalization",
        domain=MICROSOFT,
        decomposition=_embedding,
        shape=_embedded_shape,
        ranges=embedding_ranges,
    ),
    *alike("GroupNorm", domain=MICROSOFT, shape=same_shape),
)

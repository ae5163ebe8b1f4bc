"""Normalisation along the last axes, of a sum with what was skipped, or of embeddings (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.numerics.oracle.contrib.body import Body, Decomposition

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


def _layer_normalization(body: Body) -> None:
    """ONNX Runtime knows it at every opset, in the domain of the standard."""
    epsilon, axis = body.attribute("epsilon", 1e-5), body.attribute("axis", -1)
    for position, value in enumerate(_layer(body, body.input(0), body.input(1), body.input(2), epsilon, axis)):
        body.give(value, position)


def _simplified(body: Body) -> None:
    """x / sqrt(mean x^2 + epsilon) scale."""
    x = body.input(0)
    axes = _axes(body, x, body.attribute("axis", -1))
    y, inverse = _over_deviation(body, x, x, body.attribute("epsilon", 1e-5), axes)
    body.give(body.step("Mul", y, body.input(1)))
    body.give(inverse, 1)


def _skip(body: Body) -> None:
    """Of input + skip + bias, which is the last output."""
    x = body.add(body.add(body.input(0), body.input(1)), body.input(4))
    found = _layer(body, x, body.input(2), body.input(3), body.attribute("epsilon", _SKIP_EPSILON))
    for position, value in enumerate((*found, x)):
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


NORMALIZATIONS: dict[str, Decomposition] = {
    "SkipLayerNormalization": _skip,
    "SkipSimplifiedLayerNormalization": _skip_simplified,
    "EmbedLayerNormalization": _embedding,
    "LayerNormalization": _layer_normalization,
    "SimplifiedLayerNormalization": _simplified,
}

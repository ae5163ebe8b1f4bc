"""Domains of functions, masks, and the sizes that signals and pictures are computed with."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from assay.models.input_plan.graph import Node, Value, product
from assay.models.input_plan.range_requirements import LARGE_FACTOR, TINY, Demands, demands, size_of
from assay.models.input_plan.requirements import COUNT, DIVISOR, MASK, UNIQUE, Need

MOST_TEXTS = 1000


@demands("Clip")
def _clip(node: Node, inputs: Sequence[Value]) -> Demands:
    # A lower bound below every upper one.
    yield 1, Need(-2.0, -1.0, COUNT)
    yield 2, Need(1.0, 2.0, COUNT)


@demands("Log", "Reciprocal")
def _positive(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(TINY, inf)


@demands("Sqrt")
def _not_negative(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(0.0, inf)


@demands("Acos", "Asin")
def _cosine(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(-1.0, 1.0)


@demands("Atanh")
def _tangent(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(-1.0 + TINY, 1.0 - TINY)


@demands("Acosh")
def _hyperbolic(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(1.0, inf)


@demands("Pow")
def _power(node: Node, inputs: Sequence[Value]) -> Demands:
    exponents = inputs[1].data
    if exponents is not None and exponents.size and exponents.dtype.kind == "f":
        if (exponents != exponents.round()).any():
            yield 0, Need(0.0 if (exponents >= 0).all() else TINY, inf)
    elif inputs[0].data is None:
        yield 0, Need(TINY, inf)


@demands("Div", "Mod")
def _divisor(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.5, inf, DIVISOR)


@demands("BatchNormalization")
def _variance(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 4, Need(0.0, inf)


@demands("Dropout")
def _ratio(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.0, 0.5, COUNT)
    yield 2, Need(0, 0, COUNT)


@demands("SVMRegressor", "SVMClassifier")
def _near_support_vectors(node: Node, inputs: Sequence[Value]) -> Demands:
    """A Gaussian kernel is 0 far from all that it was trained on, and the answer a constant: values of the size of a typical feature."""
    features = size_of(inputs, 0, -1)
    vectors = np.asarray(node.attributes.get("support_vectors", ()), np.float64)
    kernel = node.attributes.get("kernel_type", "LINEAR")
    if kernel in ("RBF", b"RBF") and features and vectors.size and vectors.size % features == 0:
        table = vectors.reshape(-1, features)
        yield 0, Need(float(np.median(table.min(0))), float(np.median(table.max(0))))


@demands("Mul")
def _masked(node: Node, inputs: Sequence[Value]) -> Demands:
    """`(1 - mask) * -10000`."""
    for place, other in ((0, 1), (1, 0)):
        factor = inputs[other].data
        if factor is not None and factor.size == 1 and float(factor.reshape(-1)[0]) <= -LARGE_FACTOR:
            yield place, Need(0, 1, MASK)


@demands("Cast")
def _truth(node: Node, inputs: Sequence[Value]) -> Demands:
    if node.attributes.get("to") == 9:
        yield 0, Need(0, 1, MASK)


@demands("STFT", "HannWindow", "HammingWindow", "BlackmanWindow")
def _frames(node: Node, inputs: Sequence[Value]) -> Demands:
    yield (0 if node.op.endswith("Window") else 1), Need(4, 16, COUNT)


@demands("DFT")
def _fourier(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(8, 8, COUNT)
    yield 2, Need(1, 1, COUNT)


@demands("MelWeightMatrix")
def _mel(node: Node, inputs: Sequence[Value]) -> Demands:
    for place, value in enumerate((4, 16, 8000, 0, 4000)):
        yield place, Need(value, value, COUNT)


@demands("CenterCropPad", "MaxUnpool")
def _own_shape(node: Node, inputs: Sequence[Value]) -> Demands:
    """The sizes that it has, doubled where what was pooled is placed again."""
    shape = inputs[0].shape or ()
    if None in shape:
        return
    sizes = [float(one or 0) for one in shape]
    if node.op == "MaxUnpool":
        wide = [*sizes[:2], *(2 * one for one in sizes[2:])]
        yield 1, Need(0, max(1.0, sizes[-1] * sizes[-2] - 1), UNIQUE)
        yield 2, Need(1, inf, COUNT, exact=tuple(wide))
        return
    axes = node.attributes.get("axes") or range(len(sizes))
    yield 1, Need(1, inf, COUNT, exact=tuple(sizes[axis] for axis in axes))


@demands("AffineGrid")
def _grid_size(node: Node, inputs: Sequence[Value]) -> Demands:
    batch, rank = size_of(inputs, 0, 0), size_of(inputs, 1, 0)
    if batch is not None and rank is not None:
        yield 1, Need(1, inf, COUNT, exact=(float(batch), 1.0, *[4.0] * (rank - 2)))


@demands("Col2Im")
def _columns(node: Node, inputs: Sequence[Value]) -> Demands:
    """Blocks of one element, and a picture of one row."""
    length, rank = size_of(inputs, 0, 2), size_of(inputs, 2, 0)
    if length is not None and rank is not None:
        yield 1, Need(1, inf, COUNT, exact=(float(length), *[1.0] * (rank - 1)))
        yield 2, Need(1, 1, COUNT)


@demands("Less", "LessOrEqual", "Greater", "GreaterOrEqual")
def _bound(node: Node, inputs: Sequence[Value]) -> Demands:
    """A scalar that is compared with a row of known numbers bounds it: a lower bound lies in their lowest quarter, an upper one in
    the highest, so that some numbers are left between the two."""
    for place, other in ((0, 1), (1, 0)):
        known, shape = inputs[other].data, inputs[place].shape
        if known is None or known.size < 2 or known.dtype.kind not in "iuf" or shape is None or product(shape) != 1:
            continue
        least, most = float(known.min()), float(known.max())
        quarter = (most - least) / 4
        # `s < row` and `row > s` keep what is above.
        lower = node.op.startswith("Less") == (place == 0)
        yield place, Need(least, least + quarter) if lower else Need(most - quarter, most)


@demands("LabelEncoder", "CategoryMapper", "OneHotEncoder", "TfIdfVectorizer")
def _known_texts(node: Node, inputs: Sequence[Value]) -> Demands:
    """What the operator knows: other texts all become one."""
    lists = (node.attributes.get(name) for name in ("keys_strings", "cats_strings", "pool_strings"))
    texts = next((one for one in lists if one), None)
    if texts:
        yield 0, Need(texts=tuple(texts[:MOST_TEXTS]))


@demands("Equal")
def _compared_text(node: Node, inputs: Sequence[Value]) -> Demands:
    for place, other in ((0, 1), (1, 0)):
        known = inputs[other].data
        if known is not None and known.dtype == object and known.size:
            texts = tuple(dict.fromkeys(str(one) for one in known.reshape(-1)[:MOST_TEXTS]))
            yield place, Need(texts=(*texts, "other"))

"""One local noise rule for each kind of arithmetic: the variance that rounding adds at one place, element by element.

A rounding error is uniform over one unit, hence the thirds. Sums may be added up in any order, one after the other at
worst (Higham, Accuracy and Stability, 4.2); functions are good to 4 units and a quarter of a unit of their argument.
Pure movement of data adds nothing, and neither do relu, max and clip: they only choose. An operator that is not here
gets `fallback`, and is listed in the profile. Further rules come from the entry points of the group `assay.noise_rules`
(name: operator type; object: a rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.numerics.oracle.probe import Call
from assay.numerics.tolerance.contract import Arithmetic
from assay.ports import Tensor

GROUP = "assay.noise_rules"
EXACT = 0.0


@dataclass(frozen=True)
class Site:
    """One place in the graph: its exact value, the operator it lies in, and what its rounding depends on."""

    kind: str
    value: Tensor
    call: Call
    operands: Mapping[str, Any]
    again: Callable[..., tuple[Any, ...]]

    def x(self, position: int = 0) -> Tensor:
        """An input of the operator, or the operand `x` of a place inside one."""
        given: Tensor = self.operands["x"] if "x" in self.operands else self.call.inputs[position]
        return given

    def squared(self, *inputs: Tensor) -> Tensor:
        """The operator on squared inputs: the sum of squared terms where it is a sum of products."""
        result: Tensor = self.again(*(one * one for one in inputs))[0]
        return np.maximum(result, 0)


Variance = Any
"""An array like the value, or one number for all of it."""
Rule = Callable[[Site, Arithmetic], Variance]


def rounding(site: Site, unit: Arithmetic) -> Variance:
    """One correctly rounded result in the type of storage."""
    return unit.storage**2 / 3 * np.square(site.value)


def whole(*arrays: Any) -> bool:
    """Whole numbers throughout."""
    return all(bool(np.all(np.rint(one) == one)) for one in arrays)


def _held(value: Tensor, unit: float) -> bool:
    """Whole numbers that a significand of that roundoff holds."""
    return not value.size or float(np.max(np.abs(value))) * unit <= 1.0


def exact_sum(site: Site, unit: Arithmetic, *inputs: Tensor) -> bool:
    """Whether a sum of products of whole numbers is exact in any order: the sum of magnitudes fits the significand."""
    if unit.multiply or not whole(*inputs) or not _held(site.value, unit.storage):
        return False
    return _held(np.asarray(site.again(*(np.abs(one) for one in inputs))[0]), unit.accumulate)


def arithmetic(site: Site, unit: Arithmetic) -> Variance:
    """Sums, differences and products of two numbers; of whole ones they are exact."""
    if whole(*site.call.inputs) and _held(site.value, unit.storage):
        return EXACT
    return rounding(site, unit)


def inner(site: Site, unit: Arithmetic) -> Variance:
    """One result inside a fused operator, kept in the type of accumulation."""
    return unit.accumulate**2 / 3 * np.square(site.value)


def fused(site: Site, unit: Arithmetic) -> Variance:
    """Division, or several roundings in one operator."""
    return 2.25 * unit.storage**2 / 3 * np.square(site.value)


def total(terms: float, value: Tensor, squares: Tensor, unit: Arithmetic) -> Tensor:
    """A sum of `terms` products in the type of accumulation, stored once."""
    growth = unit.accumulate**2 / 3 * (terms * np.square(value) / 3 + terms * squares / 2)
    result: Tensor = growth + 2 * unit.multiply**2 / 3 * squares + unit.storage**2 / 3 * np.square(value)
    return result


def positive_sum(site: Site, unit: Arithmetic) -> Variance:
    """A sum without cancellation: relative error only."""
    return unit.accumulate**2 * float(site.operands["terms"]) / 9 * np.square(site.value)


def mean(site: Site, unit: Arithmetic) -> Variance:
    terms = float(site.operands["terms"])
    spread = np.asarray(site.operands["squares"]()) / terms
    return unit.accumulate**2 / 3 * (np.square(site.value) * (1 + terms / 3) + terms / 2 * spread)


def standardized(site: Site, unit: Arithmetic) -> Variance:
    """(x - mean) / deviation: the mean is rounded, and may be large beside the deviation."""
    shift = np.square(site.operands["mean"] * site.operands["inverse"]) / 12
    return unit.accumulate**2 * (np.square(site.value) / 3 + shift)


def affine(site: Site, unit: Arithmetic) -> Variance:
    product = unit.accumulate**2 / 3 * np.square(site.operands["product"])
    return product + unit.storage**2 / 3 * np.square(site.value)


def function(slope: Callable[[Tensor, Tensor], Any] | None, *, absolute: bool = True) -> Rule:
    """4 units of the result, a quarter of a unit of the argument; `absolute`: near zero the units are those of 1."""

    def rule(site: Site, unit: Arithmetic) -> Variance:
        z, x = site.value, site.x()
        own = 16 * np.square(z)
        if absolute:
            own = own + unit.absolute**2
        if slope is not None:
            own = own + np.square(0.25 * x * slope(x, z))
        return unit.storage**2 / 3 * np.square(z) + unit.accumulate**2 / 3 * own

    return rule


def exponential(site: Site, unit: Arithmetic) -> Variance:
    """exp(x - max) inside a softmax: its argument carries the rounding of x - max."""
    x, z = site.operands["x"], site.value
    with np.errstate(invalid="ignore"):
        argument = np.where(z == 0, 0, x * z)
    return unit.accumulate**2 / 3 * (np.square(argument) + 16 * np.square(z))


def product(weights: int = 1) -> Rule:
    """Convolutions and matrix products; the length of the sum from the shapes."""

    def rule(site: Site, unit: Arithmetic) -> Variance:
        a, b = site.call.inputs[0], site.call.inputs[weights]
        if exact_sum(site, unit, *site.call.inputs):
            return EXACT
        squares = site.squared(a, b) * abs(float(site.call.attributes.get("alpha", 1.0) or 1.0))
        direct = total(_terms(site.call), site.value, squares, unit)
        return direct + winograd(site, unit) if unit.winograd and _is_small(site.call) else direct

    return rule


WINOGRAD = 116.0
"""The mean over a tile of (sum over i of A_pi^2 |G_i|^2 |B_i|^2) (the same of q) / 9, with the matrices of F(4x4, 3x3) (Lavin and
Gray 2016): how much more noise of independent roundings comes out of its transforms than out of nine products."""
_TILE = 6


def winograd(site: Site, unit: Arithmetic) -> Variance:
    """Sums over channels in the transformed space: their noise is that of the whole tile, whatever cancels at one pixel."""
    from scipy import ndimage

    x, w = site.call.inputs[:2]
    window = (1, 1, _TILE, _TILE)
    level = ndimage.maximum_filter(ndimage.uniform_filter(x * x, window, mode="nearest"), window, mode="nearest")
    spread = np.broadcast_to(np.mean(w * w, axis=(2, 3), keepdims=True), w.shape)
    squares = np.maximum(site.again(np.maximum(level, 0), np.ascontiguousarray(spread))[0], 0)
    return unit.accumulate**2 / 3 * WINOGRAD * (w.shape[1] / 2 + 3) * squares


def _is_small(call: Call) -> bool:
    """A 3x3 convolution of stride 1."""
    ones = (*(call.attributes.get("strides") or ()), *(call.attributes.get("dilations") or ()))
    return call.operator == "Conv" and call.inputs[1].shape[2:] == (3, 3) and set(ones) <= {1}


def _terms(call: Call) -> float:
    a, b = call.inputs[0], call.inputs[1]
    match call.operator:
        case "Conv":
            return float(math.prod(b.shape[1:]))
        case "ConvTranspose":
            return float(b.shape[0] // (call.attributes.get("group") or 1) * math.prod(b.shape[2:]))
        case "Gemm":
            return float(a.shape[0] if call.attributes.get("transA") else a.shape[-1])
        case _:
            return float(a.shape[-1] if a.ndim else 1)


def einsum(site: Site, unit: Arithmetic) -> Variance:
    inputs = site.call.inputs
    terms = max(1.0, math.prod(one.size for one in inputs) ** 0.5 / max(1.0, site.value.size**0.5))
    return total(terms, site.value, site.squared(*inputs), unit)


def reduction(site: Site, unit: Arithmetic) -> Variance:
    """ReduceSum, ReduceMean, pooling and running sums. A mean is a sum of terms x / n."""
    x = site.call.inputs[0]
    axes = site.call.inputs[1:]
    if "Sum" in site.call.operator and whole(x) and _held(np.asarray(np.sum(np.abs(x))), unit.accumulate):
        return EXACT
    terms = max(1.0, x.size / max(1, site.value.size))
    if site.call.operator == "CumSum":
        terms = float(x.shape[int(np.asarray(axes[0]).reshape(-1)[0])] if x.ndim else 1)
    squares = np.maximum(site.again(x * x, *axes)[0], 0)
    if "Average" in site.call.operator or "Mean" in site.call.operator:
        if site.call.operator == "AveragePool":
            terms = float(math.prod(site.call.attributes["kernel_shape"]))
        squares = squares / terms
    return total(terms, site.value, squares, unit)


def relative_reduction(site: Site, unit: Arithmetic) -> Variance:
    """Norms and products: every term of one sign, so the relative error grows with their number alone."""
    terms = max(1.0, site.call.inputs[0].size / max(1, site.value.size))
    if "kernel_shape" in site.call.attributes:
        terms = float(math.prod(site.call.attributes["kernel_shape"]))
    if site.call.operator == "CumProd":
        terms = float(max(site.value.shape, default=1))
    return (unit.accumulate**2 * (terms / 3 + 6) + unit.storage**2 / 3) * np.square(site.value)


def log_reduction(site: Site, unit: Arithmetic) -> Variance:
    """The logarithm of a sum: the relative error of the sum is its absolute error."""
    x = site.call.inputs[0]
    terms = max(1.0, x.size / max(1, site.value.size))
    reach = _weighted_reach(site.call, x).reshape(np.shape(site.value)) if "Exp" in site.call.operator else 0.0
    grown = terms / 3 + 16 + reach
    return unit.accumulate**2 / 3 * (grown + 16 * np.square(site.value)) + unit.storage**2 / 3 * np.square(site.value)


def _weighted_reach(call: Call, x: Tensor) -> Tensor:
    """Sum of (p (x - max))^2 over what is reduced, p the share of a term: a term of -1e9 has none, whatever its size."""
    given = call.attributes.get("axes")
    if given is None and len(call.inputs) > 1 and call.inputs[1] is not None:
        given = np.asarray(call.inputs[1]).reshape(-1).tolist()
    axes = tuple(int(one) for one in given) if given else tuple(range(x.ndim))
    with np.errstate(all="ignore"):
        below = x - np.max(x, axis=axes, keepdims=True)
        share = np.exp(below)
        share = share / share.sum(axis=axes, keepdims=True)
        reached = np.where(share > 0, np.square(share * below), 0.0)
    result: Tensor = np.where(np.isfinite(reached), reached, 0.0).sum(axis=axes)
    return result


def variadic(site: Site, unit: Arithmetic) -> Variance:
    """Sum and Mean of several tensors."""
    if site.call.operator == "Sum" and exact_sum(site, unit, *site.call.inputs):
        return EXACT
    terms = float(len(site.call.inputs))
    scale = terms if site.call.operator == "Mean" else 1.0
    squares = sum((np.square(one / scale) for one in site.call.inputs), np.zeros(1, site.value.dtype))
    return total(terms, site.value, squares, unit)


def transform(site: Site, unit: Arithmetic) -> Variance:
    """Fourier transforms: u log2(n) |x| in the norm of each line (Higham, 24.1). A length that is no power of two may go
    through three transforms of the next power above 2n - 1 (Bluestein 1970)."""
    x = np.asarray(site.call.inputs[0])
    axis = _line(site.call, x)
    if axis is None:
        length = float(site.call.inputs[3]) if len(site.call.inputs) > 3 and site.call.inputs[3] is not None else x.size
        power: Any = float(np.sum(np.square(np.abs(x)))) / max(1.0, x.size / float(length))
    else:
        length = float(x.shape[axis])
        power = np.sum(np.square(np.abs(x)), axis=(axis, x.ndim - 1), keepdims=True)
    steps = math.log2(max(2.0, length))
    if not steps.is_integer():
        steps = 3 * math.ceil(math.log2(2 * length - 1))
    return (unit.accumulate * steps) ** 2 * power + unit.storage**2 / 3 * np.square(site.value)


def _line(call: Call, x: Tensor) -> int | None:
    """The axis that a DFT transforms; None for the windows of STFT."""
    if call.operator != "DFT":
        return None
    axis = call.attributes.get("axis", 1) if call.version < 20 else call.input(2)
    axis = -2 if axis is None else int(np.asarray(axis).reshape(-1)[0])
    return axis % x.ndim


def batch_normalization(site: Site, unit: Arithmetic) -> Variance:
    """x s + (b - m s) with s = scale / sqrt(variance + epsilon); a backend may fold s into a convolution."""
    x, scale, bias, average, variance = site.call.inputs[:5]
    shape = (1, -1, *[1] * (x.ndim - 2))
    epsilon = site.call.attributes.get("epsilon", 1e-5)
    factor = (scale / np.sqrt(variance + x.dtype.type(epsilon))).reshape(shape)
    parts = 4 * np.square(x * factor) + np.square(bias.reshape(shape)) + 4 * np.square(average.reshape(shape) * factor)
    return unit.accumulate**2 / 3 * parts + unit.storage**2 / 3 * np.square(site.value)


def sampling(site: Site, unit: Arithmetic) -> Variance:
    """Resize and GridSample: a rounded coordinate slides along the local slope (largest minus smallest in a 3x3 window)."""
    from scipy import ndimage

    x, rest = site.call.inputs[0], site.call.inputs[1:]
    if _text(site.call.attributes.get("mode", "nearest")) == "nearest":
        return EXACT
    window = [3 if site.value.shape[axis] != x.shape[axis] or axis >= 2 else 1 for axis in range(x.ndim)]
    slope = ndimage.maximum_filter(x, window, mode="nearest") - ndimage.minimum_filter(x, window, mode="nearest")
    width = float(max((x.shape[axis] for axis in range(x.ndim) if window[axis] == 3), default=1))
    with np.errstate(invalid="ignore"):
        steepness = np.abs(site.again(slope, *rest)[0])
        squares = np.abs(site.again(np.square(x), *rest)[0])
        found = np.square(unit.accumulate * width * steepness) / 3 + unit.storage**2 * squares
        if "cubic" in _text(site.call.attributes.get("mode")):
            near = ndimage.maximum_filter(np.square(x), window, mode="nearest")
            found = found + _weights_of(site, window) * unit.accumulate**2 / 3 * np.abs(site.again(near, *rest)[0])
    return found


def _weights_of(site: Site, window: Sequence[int]) -> float:
    """Cubic weights are polynomials whose terms cancel: each errs by 4 units of 1, not of itself; 4 of them an axis, more
    where a smaller picture averages."""
    pairs = zip(site.call.inputs[0].shape, site.value.shape, window, strict=True)
    return float(sum(64.0 * max(1.0, n / max(1, m)) for n, m, width in pairs if width == 3))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def deformed(site: Site, unit: Arithmetic) -> Variance:
    """A convolution of sampled values: the sum, and coordinates that slide along the local slope."""
    from scipy import ndimage

    x, weight, offset = site.call.inputs[:3]
    mask = site.call.input(4)
    window = [1, 1, *[3] * (x.ndim - 2)]
    slope = ndimage.maximum_filter(x, window, mode="nearest") - ndimage.minimum_filter(x, window, mode="nearest")
    rest = (offset, None, None if mask is None else mask * mask)
    squares = np.maximum(site.again(x * x, weight * weight, *rest)[0], 0)
    steep = np.maximum(site.again(slope * slope, weight * weight, *rest)[0], 0)
    width = float(max(x.shape[2:]))
    slide = np.square(unit.accumulate * width) / 3 * steep
    return (
        total(float(math.prod(weight.shape[1:])), site.value, squares, unit) + 4 * unit.accumulate**2 * squares + slide
    )


def response(site: Site, unit: Arithmetic) -> Variance:
    """x / (bias + alpha mean of squares)^beta: a positive sum and a power."""
    terms = float(site.call.attributes.get("size", 1))
    return (unit.accumulate**2 / 3 * (terms / 3 + 16) + unit.storage**2 / 3) * np.square(site.value)


def power(site: Site, unit: Arithmetic) -> Variance:
    z = site.value
    exponent = site.call.inputs[1].astype(z.dtype)
    own = (16 + np.square(0.25 * exponent)) * np.square(z)
    return unit.storage**2 / 3 * np.square(z) + unit.accumulate**2 / 3 * own


def constant(site: Site, unit: Arithmetic) -> Variance:
    """Stored numbers are exact, unless the flow stores them in a coarser type than the model."""
    return rounding(site, unit) if unit.storage > 2.0**-24 else EXACT


def cast(site: Site, unit: Arithmetic) -> Variance:
    """Whole numbers that the type holds stay as they are."""
    x = np.asarray(site.call.inputs[0])
    if x.dtype.kind in "biu" and (not x.size or float(np.max(np.abs(x.astype(np.float64)))) * unit.storage <= 1.0):
        return EXACT
    return rounding(site, unit)


def scatter(site: Site, unit: Arithmetic) -> Variance:
    """Movement, unless what meets at one place is added or multiplied."""
    return rounding(site, unit) if _text(site.call.attributes.get("reduction", "none")) in ("add", "mul") else EXACT


def steps(site: Site, unit: Arithmetic) -> Variance:
    """Before rounding to an integer grid, in its steps: fixed-point arithmetic may tip a near tie."""
    return unit.steps**2 + (unit.accumulate * 4) ** 2 / 3 * np.square(site.value)


def fallback(site: Site, unit: Arithmetic) -> Variance:
    """Stated, and wide: 8 units of the element, and 8 of the root mean square of the output."""
    value = site.value
    finite = value[np.isfinite(value)]
    level = float(np.mean(np.square(finite))) if finite.size else 0.0
    return 64 * unit.storage**2 / 3 * (np.square(value) + level)


def _logistic(_: Tensor, z: Tensor) -> Any:
    return z * (1 - z)


INNER: dict[str, Rule] = {
    "inner": inner,
    "output": rounding,
    "fused": fused,
    "affine": affine,
    "mean": mean,
    "positive_sum": positive_sum,
    "standardized": standardized,
    "exp": exponential,
    "log": function(None),
    "tanh": function(lambda x, z: 1 - z * z),
    "sigmoid": function(_logistic),
    "erf": function(lambda x, z: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    "steps": steps,
    "sum": lambda site, unit: total(float(site.operands["terms"]), site.value, site.operands["squares"](), unit),
    "convert": rounding,
}
"""Places inside our own kernels, by the kind that they mark."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(("Sqrt", "LeakyRelu", "PRelu", "Mod", "Col2Im"), rounding),
    **dict.fromkeys(("Add", "Sub", "Mul"), arithmetic),
    **dict.fromkeys(("Div", "Reciprocal", "HardSigmoid", "HardSwish", "Shrink", "Softsign"), fused),
    **dict.fromkeys(("Conv", "ConvTranspose", "MatMul", "Gemm"), product()),
    **dict.fromkeys(("ReduceSum", "ReduceMean", "AveragePool", "GlobalAveragePool", "CumSum"), reduction),
    **dict.fromkeys(
        ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd", "LpPool", "GlobalLpPool", "CumProd"),
        relative_reduction,
    ),
    **dict.fromkeys(("ReduceLogSum", "ReduceLogSumExp"), log_reduction),
    **dict.fromkeys(("Sum", "Mean"), variadic),
    **dict.fromkeys(("DFT", "STFT"), transform),
    **dict.fromkeys(("Resize", "Upsample", "GridSample"), sampling),
    "Einsum": einsum,
    "DeformConv": deformed,
    "LRN": response,
    "BatchNormalization": batch_normalization,
    **dict.fromkeys(("Cast", "CastLike"), cast),
    **dict.fromkeys(("ScatterElements", "ScatterND"), scatter),
    "Pow": power,
    "Constant": constant,
    "ConstantOfShape": constant,
    "DequantizeLinear": rounding,
    "Exp": function(lambda x, z: z, absolute=False),
    "Log": function(None),
    "Tanh": INNER["tanh"],
    "Sigmoid": INNER["sigmoid"],
    "Erf": INNER["erf"],
    "Sin": function(lambda x, z: np.cos(x)),
    "Cos": function(lambda x, z: np.sin(x)),
    "Tan": function(lambda x, z: 1 + z * z),
    **dict.fromkeys(("Asin", "Acos", "Acosh", "Atanh"), function(None)),
    "Atan": function(lambda x, z: 1 / (1 + x * x)),
    "Sinh": function(lambda x, z: np.sqrt(1 + z * z)),
    "Cosh": function(lambda x, z: z),
    "Asinh": function(lambda x, z: 1 / np.sqrt(1 + x * x)),
    "Softplus": function(lambda x, z: 1 - np.exp(-z)),
    "Elu": function(lambda x, z: np.where(x < 0, z + 1, 1)),
    "Selu": function(lambda x, z: np.where(x < 0, z + 1.76, 1.05)),
    "Celu": function(lambda x, z: np.where(x < 0, z + 1, 1)),
    "Mish": function(lambda x, z: np.minimum(1.1, np.exp(np.minimum(x, 1)))),
    "Swish": function(lambda x, z: np.full_like(z, 1.1)),
}
"""Whole operators, by type."""

MOVEMENT = frozenset(
    """
    Abs And ArgMax ArgMin Bernoulli BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil CenterCropPad Clip
    Compress Concat ConcatFromSequence DepthToSpace Dropout Equal Expand EyeLike Flatten Floor Gather
    GatherElements GatherND GlobalMaxPool Greater GreaterOrEqual Hardmax Identity IsInf IsNaN Less LessOrEqual Max
    MaxPool MaxRoiPool MaxUnpool Min Multinomial Neg NonMaxSuppression NonZero Not OneHot Optional
    OptionalGetElement OptionalHasElement Or Pad QuantizeLinear RandomNormal RandomNormalLike RandomUniform
    RandomUniformLike Range ReduceMax ReduceMin Relu Reshape ReverseSequence Round Scatter SequenceAt
    SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Sign Size Slice SpaceToDepth
    Split SplitToSequence Squeeze TensorScatter ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Where
    Xor
    """.split()  # noqa: SIM905  a list of names reads better as text
)
"""Operators that only move or choose: a correct backend gives every bit."""


def rule_for(operator: str) -> Rule | None:
    """Ours, or one that a plug-in brings; None where there is neither."""
    return _plugins().get(operator) or RULES.get(operator)


_loaded: dict[str, Rule] | None = None


def _plugins() -> dict[str, Rule]:
    global _loaded
    if _loaded is None:
        from importlib.metadata import entry_points

        _loaded = {entry.name: entry.load() for entry in entry_points(group=GROUP)}
    return _loaded

"""The noise of sums, which may be added up in any order, one after the other at worst (Higham, Accuracy and Stability, 4.2)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from assay.numerics.attributes import stated
from assay.numerics.oracle.hooks import Call
from assay.numerics.oracle.windows import averaged
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.dyadic import holds, is_power_of_two, largest, step_of
from assay.numerics.tolerance.rules.rounding_rules import EXACT, Rule, RuleSite, Variance, fits, whole
from assay.numerics.tolerance.rules.sum_drift import reduced, with_drift, with_share_of_drift
from assay.numerics.tolerance.rules.winograd import winograd
from assay.ports import Tensor


def exact_sum(site: RuleSite, unit: Arithmetic, *inputs: Tensor) -> bool:
    """Whether a sum of products of whole numbers is exact in any order: the sum of magnitudes fits the significand."""
    if unit.multiply or not whole(*inputs) or not fits(site.value, unit.storage):
        return False
    return fits(np.asarray(site.again(*(np.abs(array) for array in inputs))[0]), unit.accumulate)


def exact_product(site: RuleSite, unit: Arithmetic) -> bool:
    """Whether a sum of products of dyadic numbers is exact in any order: all magnitudes together are so few steps of the finest of
    its terms that the significand holds them. Every output channel has a grid of its own."""
    a, b, *others = site.call.inputs
    grid = step_of(a) if not unit.multiply else np.zeros(1)
    if not grid.any():
        return False
    axis, along = _channels(site.call, np.asarray(site.value))
    alpha, beta = (abs(float(stated(site.call.attributes, name, 1.0))) for name in ("alpha", "beta"))
    if axis is not None:
        # The result of one channel mostly tells: no other need be looked at then.
        first = step_of(np.take(b, [0], axis), axis).reshape(()) * grid.reshape(()) * alpha
        if not holds(largest(np.take(site.value, [0], along.index(-1))), first, unit.storage):
            return False
    step = step_of(b, axis)
    if not step.any():
        return False
    array = grid.reshape(()) * step.reshape(along) * (alpha if is_power_of_two(alpha) else 0.0)
    if others and others[0] is not None:
        array = np.minimum(array, float(step_of(others[0]).min()) * (beta if is_power_of_two(beta) else 0.0))
    magnitudes = np.asarray(
        site.again(*(None if operand is None else np.abs(operand) for operand in site.call.inputs))[0]
    )
    return holds(magnitudes, array, unit.accumulate) and holds(np.abs(site.value), array, unit.storage)


def _channels(call: Call, value: Tensor) -> tuple[int | None, tuple[int, ...]]:
    """The axis of the output channels in the second operand, and the shape in which they lie beside the result."""
    rank = value.ndim
    if call.operator == "Conv":
        return 0, (1, -1, *[1] * (rank - 2))
    if call.operator in ("Gemm", "MatMul") and call.inputs[1].ndim >= 2 and rank >= 2:
        axis = call.inputs[1].ndim - (2 if call.attributes.get("transB") else 1)
        return axis, (*[1] * (rank - 1), -1)
    return None, (1,) * rank


def exact_mean(site: RuleSite, unit: Arithmetic) -> bool:
    """Whether sums and means of dyadic numbers along some axes are exact: a mean only of as many as a power of two, everywhere."""
    x = site.call.inputs[0]
    count = x.size / max(1, site.value.size)
    sums = "Sum" in site.call.operator
    if not sums and not is_power_of_two(count):
        return False
    step = float(step_of(x).min())
    return holds(largest(x) * count, step, unit.accumulate) and holds(
        largest(site.value), step / (1.0 if sums else count), unit.storage
    )


def exact_windows(site: RuleSite, unit: Arithmetic) -> Tensor:
    """Which windows of AveragePool have the exact mean of dyadic numbers, of as many as a power of two: at an edge that is padded they
    are of fewer. It broadcasts to the result."""
    x = site.call.inputs[0]
    count = averaged(x, site.call.attributes)
    none = np.zeros((1,) * x.ndim, bool)
    windows: Tensor = np.frexp(count)[0] == 0.5
    if not windows.any():
        return none
    step, most = float(step_of(x).min()), float(count[windows].max())
    held = holds(largest(x) * most, step, unit.accumulate) and holds(largest(x), step / most, unit.storage)
    return windows if held else none


def total(terms: float, value: Tensor, squares: Tensor, unit: Arithmetic) -> Tensor:
    """A sum of `terms` products in the type of accumulation, stored once."""
    # Factors first: an array of a large convolution is passed over four times then, and not ten.
    own = unit.accumulate**2 * terms / 9 + unit.storage**2 / 3
    of_squares = unit.accumulate**2 * terms / 6 + 2 * unit.multiply**2 / 3
    result: Tensor = np.square(value) * own + squares * of_squares
    return result


def positive_sum(site: RuleSite, unit: Arithmetic) -> Variance:
    """A sum without cancellation: relative error only."""
    variance = unit.accumulate**2 * float(site.operands["terms"]) / 9 * np.square(site.value)
    return with_share_of_drift(variance, site.operands["each"](), unit, site.value)


def product(terms: Callable[[Call], float], weights: int = 1) -> Rule:
    """Convolutions and matrix products; the length of the sum from the shapes."""

    def rule(site: RuleSite, unit: Arithmetic) -> Variance:
        a, b = site.call.inputs[0], site.call.inputs[weights]
        if unit.operand_levels:
            step = largest(a) / unit.operand_levels
            closely = rule(site, replace(unit, operand_levels=0))
            return closely + step**2 / 12 * site.squared(np.ones_like(a), b)
        if exact_sum(site, unit, *site.call.inputs) or exact_product(site, unit):
            return winograd(site, unit) if unit.winograd else EXACT
        squares = site.squared(a, b) * abs(float(stated(site.call.attributes, "alpha", 1.0)))
        direct = total(terms(site.call), site.value, squares, unit)
        return direct + winograd(site, unit) if unit.winograd else direct

    return rule


def einsum(site: RuleSite, unit: Arithmetic) -> Variance:
    inputs = site.call.inputs
    terms = max(1.0, math.prod(operand.size for operand in inputs) ** 0.5 / max(1.0, site.value.size**0.5))
    return total(terms, site.value, site.squared(*inputs), unit)


def reduction(site: RuleSite, unit: Arithmetic) -> Variance:
    """ReduceSum, ReduceMean, pooling and running sums. A mean is a sum of terms x / n."""
    x = site.call.inputs[0]
    axes = site.call.inputs[1:]
    if "Sum" in site.call.operator and whole(x) and fits(np.asarray(np.sum(np.abs(x))), unit.accumulate):
        return EXACT
    if site.call.operator not in ("CumSum", "AveragePool") and exact_mean(site, unit):
        return EXACT
    exact = exact_windows(site, unit) if site.call.operator == "AveragePool" else np.zeros(1, bool)
    if exact.all():
        return EXACT
    terms = max(1.0, x.size / max(1, site.value.size))
    if site.call.operator == "CumSum":
        terms = float(x.shape[int(np.asarray(axes[0]).reshape(-1)[0])] if x.ndim else 1)
    squares = np.maximum(site.again(x * x, *axes)[0], 0)
    if "Average" in site.call.operator or "Mean" in site.call.operator:
        if site.call.operator == "AveragePool":
            terms = float(math.prod(site.call.attributes["kernel_shape"]))
        squares = squares / terms
    variance = total(terms, site.value, squares, unit)
    if site.call.operator in ("CumSum", "AveragePool"):
        return np.where(exact, variance.dtype.type(0), variance) if exact.any() else variance
    return with_drift(variance, reduced(site.call), unit, site.value, 1.0 if "Sum" in site.call.operator else terms)


def relative_reduction(site: RuleSite, unit: Arithmetic) -> Variance:
    """Norms and products: every term of one sign, so the relative error grows with their number alone."""
    terms = max(1.0, site.call.inputs[0].size / max(1, site.value.size))
    if "kernel_shape" in site.call.attributes:
        terms = float(math.prod(site.call.attributes["kernel_shape"]))
    if site.call.operator == "CumProd":
        terms = float(max(site.value.shape, default=1))
    variance = (unit.accumulate**2 * (terms / 3 + 6) + unit.storage**2 / 3) * np.square(site.value)
    match site.call.operator:
        case "ReduceL1":
            return with_share_of_drift(variance, np.abs(reduced(site.call)), unit, site.value)
        case "ReduceL2" | "ReduceSumSquare" as name:
            power = 0.5 if name == "ReduceL2" else 1.0
            if name == "ReduceL2":
                variance = variance + _lost_squares(site.value, terms, unit)
            return with_share_of_drift(variance, np.square(reduced(site.call)), unit, site.value, power)
        case _:
            return variance


def _lost_squares(norm: Variance, terms: float, unit: Arithmetic) -> Variance:
    """The squares of numbers around 1e-20 are none that float32 holds: the root of a sum that lost them is off by up to its whole."""
    if unit.accumulate < 2.0**-30:
        return np.zeros_like(norm)
    lost = terms * float(np.finfo(np.float32).tiny)
    return np.asarray(lost**2 / np.maximum(np.square(norm), lost))


def log_reduction(site: RuleSite, unit: Arithmetic) -> Variance:
    """The logarithm of a sum: the relative error of the sum is its absolute error."""
    x = site.call.inputs[0]
    terms = max(1.0, x.size / max(1, site.value.size))
    reach = _weighted_reach(site.call, x).reshape(np.shape(site.value)) if "Exp" in site.call.operator else 0.0
    grown = terms / 3 + 16 + reach
    energy = np.square(site.value)
    variance = unit.accumulate**2 / 3 * (grown + 16 * energy) + unit.storage**2 / 3 * energy
    each = reduced(site.call)
    if "Exp" in site.call.operator:
        with np.errstate(all="ignore"):
            each = np.exp(each - np.max(each, axis=-1, keepdims=True, initial=-np.inf))
    return with_share_of_drift(variance, each, unit, np.ones_like(site.value))


def _weighted_reach(call: Call, x: Tensor) -> Tensor:
    """Sum of (p (x - max))^2 over what is reduced, p the share of a term: a term of -1e9 has none, whatever its size."""
    written_axes = call.attributes.get("axes")
    if written_axes is None and len(call.inputs) > 1 and call.inputs[1] is not None:
        written_axes = np.asarray(call.inputs[1]).reshape(-1).tolist()
    axes = tuple(int(axis) for axis in written_axes) if written_axes else tuple(range(x.ndim))
    with np.errstate(all="ignore"):
        below = x - np.max(x, axis=axes, keepdims=True)
        share = np.exp(below)
        share = share / share.sum(axis=axes, keepdims=True)
        reached = np.where(share > 0, np.square(share * below), 0.0)
    result: Tensor = np.where(np.isfinite(reached), reached, 0.0).sum(axis=axes)
    return result


def variadic(site: RuleSite, unit: Arithmetic) -> Variance:
    """Sum and Mean of several tensors."""
    if site.call.operator == "Sum" and exact_sum(site, unit, *site.call.inputs):
        return EXACT
    terms = float(len(site.call.inputs))
    scale = terms if site.call.operator == "Mean" else 1.0
    step = min(float(step_of(operand).min()) for operand in site.call.inputs)
    size = sum(largest(operand) for operand in site.call.inputs)
    if is_power_of_two(scale) and holds(size, step, max(unit.accumulate, unit.storage)):
        return EXACT
    squares = sum((np.square(operand / scale) for operand in site.call.inputs), np.zeros(1, site.value.dtype))
    return total(terms, site.value, squares, unit)


def transform(site: RuleSite, unit: Arithmetic) -> Variance:
    """Fourier transforms: u log2(n) |x| in the norm of each line (Higham, 24.1), an inverse one divided by its length. A length
    that is no power of two may go through three transforms of the next power above 2n - 1 (Bluestein 1970), and three times turns by
    angles pi k^2 / n, k < n: rounded ones (allowance `rounded-chirps`) are off by pi n u sqrt(1/5 / 3) in the middle."""
    x = np.asarray(site.call.inputs[0])
    axis = _line(site.call, x)
    if axis is None:
        length, power = _frames(site.call, x)
    else:
        length = float(x.shape[axis])
        scale = 1.0 / np.shape(site.value)[axis] if site.call.attributes.get("inverse") else 1.0
        power = scale**2 * np.sum(np.square(np.abs(x)), axis=(axis, x.ndim - 1), keepdims=True)
    steps = math.log2(max(2.0, length))
    if not steps.is_integer():
        angles = math.pi * length / math.sqrt(5) if unit.chirps else 0.0
        steps = math.hypot(3 * math.ceil(math.log2(2 * length - 1)), angles)
    return (unit.accumulate * steps) ** 2 * power + unit.storage**2 / 3 * np.square(site.value)


def _frames(call: Call, x: Tensor) -> tuple[float, Tensor]:
    """How many samples a frame of STFT has, and the squared norm of each weighted frame: [batch, frames, 1, 1]."""
    window, frame_length = call.input(2), call.input(3)
    energy = np.square(np.abs(x)) if x.ndim == 2 else np.sum(np.square(np.abs(x)), axis=-1)
    whole = energy.shape[1] if window is None else np.shape(window)[0]
    length = whole if frame_length is None else int(np.asarray(frame_length).item())
    weights = np.ones(length) if window is None else np.square(np.abs(np.asarray(window)[:length]))
    step = int(np.asarray(call.inputs[1]).item())
    frames = np.lib.stride_tricks.sliding_window_view(energy, length, axis=1)[:, ::step]
    return float(length), (frames[..., : len(weights)] @ weights)[..., np.newaxis, np.newaxis]


def _line(call: Call, x: Tensor) -> int | None:
    """The axis that a DFT transforms; None for the windows of STFT."""
    if call.operator != "DFT":
        return None
    axis = call.attributes.get("axis", 1) if call.version < 20 else call.input(2)
    axis = -2 if axis is None else int(np.asarray(axis).reshape(-1)[0])
    return axis % x.ndim

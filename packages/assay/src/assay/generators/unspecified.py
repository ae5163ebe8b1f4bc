"""Where the standard is silent: found in the values of a case, not in a list of cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from onnx import helper

from assay.core.screening import Unspecified
from assay.generators.pool_places import equal_maxima
from assay.generators.resize_places import rounding_decides
from assay.generators.silent_forms import silent_form
from assay.numerics.shapes.windows import is_negative_same
from assay.ports import Tensor

_SUMS = frozenset((
    *("Abs", "Add", "Sub", "Mul", "Neg", "Sum", "Mean", "Div", "Pow", "BitShift", "MatMul", "Gemm", "Einsum", "MatMulInteger"),
    *("ConvInteger", "CumSum", "CumProd", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"),
    *("ScatterElements", "ScatterND"),
))  # fmt: skip
_REAL = frozenset((
    *("Erf", "Mean", "ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "LpPool", "AveragePool", "GlobalAveragePool"),
    *("Resize", "PRelu", "Selu", "Swish"),
))  # fmt: skip
"""Whose results are no whole numbers, whatever goes in."""
TIE = 1e-4
"""Of a step: nearer to the middle of two than this, the type of the quotient decides."""
ROUNDINGS = 8
"""Of float32, that the quotient of two computed numbers may be off by: a division, or a product with a rounded reciprocal, and what made
the number. Of a grid of 16 bits they are hundredths of a step."""
_WRITES = ("ScatterElements", "Scatter", "ScatterND")


def unspecified(model: Any, values: Mapping[str, Tensor]) -> tuple[Unspecified, ...]:
    """Of a case: `values` of all names, real ones in float64, whole ones in the types of the model."""
    computed = {name for node in model.graph.node for name in node.output}
    reasons = {reason for node in model.graph.node for reason in _of_node(node, values, computed)}
    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    reasons |= {reason for node in model.graph.node for reason in silent_form(node, values, opset)}
    read = {value.name for value in model.graph.output} | {name for node in model.graph.node for name in node.input}
    if any(
        node.op_type == "MaxPool" and {*node.output[1:]} & read & values.keys() and equal_maxima(node, values)
        for node in model.graph.node
    ):
        reasons.add(Unspecified.EQUAL_MAXIMA)
    return tuple(sorted(reasons))


def _of_node(node: Any, values: Mapping[str, Tensor], computed: Collection[str]) -> Iterator[Unspecified]:
    reads = [values[name] for name in node.input if name in values]
    gives = [values[name] for name in node.output if name in values]
    if not reads or not gives:
        return
    if node.op_type in _SUMS and gives[0].dtype.kind in "iu" and _overflows(node, reads, gives[0]):
        yield Unspecified.INTEGER_OVERFLOW
    if node.op_type in ("Div", "Mod") and reads[-1].dtype.kind in "iu" and bool((reads[-1] == 0).any()):
        yield Unspecified.DIVISION_BY_ZERO
    if node.op_type in ("Cast", "CastLike") and _out_of_range(reads[0], _cast_to(node, reads)):
        yield Unspecified.CAST_OUT_OF_RANGE
    if (
        node.op_type == "TopK"
        and (node.input[0] in computed or not _number(node, "sorted", 1))
        and _equal_keys(node, reads[0])
    ):
        yield Unspecified.EQUAL_KEYS
    if node.op_type == "Resize" and rounding_decides(node, reads[0].shape, gives[0].shape):
        yield Unspecified.ROUNDED_PLACE
    if node.op_type in _REAL and reads[0].dtype.kind in "iu" and gives[0].dtype.kind in "iu":
        yield Unspecified.REAL_RESULT
    if node.op_type == "QuantizeLinear" and _on_the_edge(node, reads):
        yield Unspecified.ROUNDED_STEP
    if node.op_type in _WRITES and _word(node, "reduction") in ("", "none") and _repeats(node, reads):
        yield Unspecified.REPEATED_INDICES
    if node.op_type == "DynamicQuantizeLinear" and _on_a_dynamic_edge(reads[0]):
        yield Unspecified.ROUNDED_STEP
    if node.op_type in _POOLS and _word(node, "auto_pad").startswith("SAME") and _is_dilated(node):
        yield Unspecified.DILATED_SAME
    if node.op_type == "ConvTranspose" and len(reads) > 1 and is_negative_same(reads[1].shape[2:], _attributes(node)):
        yield Unspecified.NEGATIVE_SAME
    if node.op_type == "Pad" and _word(node, "mode") == "reflect" and _reflects_twice(node, values):
        yield Unspecified.REFLECTED_TWICE
    if node.op_type == "RoiAlign" and _word(node, "mode") == "max":
        yield Unspecified.SAMPLED_MAXIMUM
    if node.op_type in ("RNN", "GRU", "LSTM") and _activations_share_numbers(node):
        yield Unspecified.ACTIVATION_NUMBERS
    if (
        node.op_type == "Attention"
        and len(node.output) > 3
        and _number(node, "softcap")
        and not _number(node, "qk_matmul_output_mode")
    ):
        yield Unspecified.BODY_DIFFERS


def _reflects_twice(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Whether it pads an axis by more than what a crop leaves of it, less one: engines refuse, go on back and forth, or read what is not
    theirs."""
    sizes = values[node.input[0]].shape
    pads, axes = _attributes(node).get("pads"), [*range(len(sizes))]
    if len(node.input) > 1:
        pads = values[node.input[1]].tolist()
    if len(node.input) > 3 and node.input[3]:
        axes = values[node.input[3]].tolist()
    places = [*zip(pads or (), [axis % len(sizes) for axis in (*axes, *axes)], strict=False)]
    left = [size + sum(min(pad, 0) for pad, axis in places if axis == place) for place, size in enumerate(sizes)]
    return any(pad > max(left[axis] - 1, 0) for pad, axis in places)


_POOLS = ("MaxPool", "AveragePool", "LpPool")


def _is_dilated(node: Any) -> bool:
    return any(
        attribute.name == "dilations" and any(size != 1 for size in attribute.ints) for attribute in node.attribute
    )


def _number(node: Any, name: str, default: float = 0) -> float:
    """An attribute of one number."""
    return next(
        (float(helper.get_attribute_value(attribute)) for attribute in node.attribute if attribute.name == name),
        default,
    )


def _attributes(node: Any) -> dict[str, Any]:
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}


def _word(node: Any, name: str) -> str:
    return next((attribute.s.decode() for attribute in node.attribute if attribute.name == name), "")


_SLOPED = {"Affine": 2, "ScaledTanh": 2, "HardSigmoid": 2, "LeakyRelu": 1, "Elu": 1, "ThresholdedRelu": 1}
"""Activations that read alpha (1) or alpha and beta (2)."""


def _activations_share_numbers(node: Any) -> bool:
    """Numbers "are consumed in the order of activation functions": whether those that read none take their turn is not said, nor what
    Affine and ScaledTanh, which are no operators any more, have by default."""
    attributes = {proto.name: helper.get_attribute_value(proto) for proto in node.attribute}
    names = [name.decode() for name in attributes.get("activations", [])]
    for place, attribute in ((1, "activation_alpha"), (2, "activation_beta")):
        readers = [name for name in names if _SLOPED.get(name, 0) >= place]
        numbers = attributes.get(attribute, [])
        if len(readers) > len(numbers) and (numbers or {"Affine", "ScaledTanh"} & {*readers}):
            return True
        if numbers and len(readers) < len(names) and len({*numbers}) > 1:
            return True
    return False


def _on_a_dynamic_edge(x: Tensor) -> bool:
    """Whether the zero point or a number lies between two steps of the grid that follows from the values."""
    wide = x.astype(np.float64)
    low, high = min(float(wide.min(initial=0.0)), 0.0), max(float(wide.max(initial=0.0)), 0.0)
    scale = (high - low) / 255.0
    if not scale:
        return False
    steps = np.append(wide.reshape(-1), -low) / scale
    return bool((np.abs(steps - np.floor(steps) - 0.5) < TIE + ROUNDINGS * 2.0**-24 * np.abs(steps)).any())


def _overflows(node: Any, reads: list[Tensor], answer: Tensor) -> bool:
    """A bound from the largest numbers that go in: wide enough that it may call a case unspecified that is not."""
    info = np.iinfo(answer.dtype)
    most = [float(np.abs(read.astype(np.float64)).max(initial=0.0)) for read in reads]
    terms = max((read.size for read in reads), default=1)
    operator = node.op_type
    if operator in ("Add", "Sub", "Sum"):
        bound = sum(most)
        if operator == "Sub" and info.min == 0:
            low = reads[0].astype(np.float64) - reads[1].astype(np.float64)
            return bool((low < 0).any()) or bound > info.max
        return bound > info.max
    if operator in ("Neg", "Abs"):
        return bool((reads[0] == info.min).any()) if info.min < 0 else operator == "Neg" and bool(reads[0].any())
    if operator == "Div":
        return info.min < 0 and bool((reads[0] == info.min).any() and (reads[1] == -1).any())
    if operator in ("Mul", "MatMul", "Gemm", "Einsum", "MatMulInteger", "ConvInteger"):
        factor = float(np.prod(most)) * (1 if operator == "Mul" else terms)
        return factor > info.max or (info.min == 0 and any((read < 0).any() for read in reads))
    if operator in ("ReduceProd", "CumProd"):
        return most[0] > 1 and terms * np.log(max(most[0], 1.0)) > np.log(float(info.max))
    if operator in ("BitShift", "Pow"):
        wide = [read.astype(np.float64) for read in reads]
        left = wide[0] * 2.0 ** wide[-1] if operator == "BitShift" else np.abs(wide[0]) ** wide[-1]
        return bool((left > info.max).any())
    return max(most) ** (2 if operator == "ReduceSumSquare" else 1) * terms > info.max


def _cast_to(node: Any, reads: list[Tensor]) -> np.dtype[Any]:
    """Of CastLike a real one is in float64, which is right here: no number is out of its range."""
    if node.op_type == "CastLike":
        like: np.dtype[Any] = reads[1].dtype
        return like
    return np.dtype(helper.tensor_dtype_to_np_dtype(next(proto.i for proto in node.attribute if proto.name == "to")))


def _out_of_range(x: Tensor, to: np.dtype[Any]) -> bool:
    if to.kind not in "iu" or x.dtype.kind == "b":
        return False
    info = np.iinfo(to)
    numbers = x.astype(np.float64)
    return bool(
        (~np.isfinite(numbers)).any() or (np.trunc(numbers) < info.min).any() or (np.trunc(numbers) > info.max).any()
    )


def _on_the_edge(node: Any, reads: list[Tensor]) -> bool:
    """Whether any quotient lies between two steps."""
    x, scale = reads[0].astype(np.float64), reads[1].astype(np.float64)
    axis, block = int(_number(node, "axis", 1)), int(_number(node, "block_size"))
    if block and not -x.ndim <= axis < x.ndim:  # the axis that was left out is none of these
        return False
    if block and scale.ndim == x.ndim:
        scale = np.repeat(scale, block, axis).take(range(x.shape[axis]), axis)
    elif scale.ndim == 1 and scale.size > 1:
        if scale.size != x.shape[axis]:
            return False
        scale = scale.reshape([-1 if place == axis % x.ndim else 1 for place in range(x.ndim)])
    elif scale.size > 1:
        return False
    steps = x / scale
    noise = TIE + ROUNDINGS * 2.0**-24 * np.abs(steps)
    return bool((np.abs(steps - np.floor(steps) - 0.5) < noise).any())


def _equal_keys(node: Any, x: Tensor) -> bool:
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), -1)
    ordered = np.sort(x, axis=axis)
    return bool((np.diff(ordered, axis=axis) == 0).any())


def _repeats(node: Any, reads: list[Tensor]) -> bool:
    """Two writes to one place."""
    data, indices = reads[0], reads[1]
    if not indices.size:
        return False
    if node.op_type == "ScatterND":
        sizes = np.asarray(data.shape[: indices.shape[-1]])
        rows = np.reshape(indices % sizes, (-1, indices.shape[-1]))
        return len(np.unique(rows, axis=0)) < len(rows)
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0) % data.ndim
    ordered = np.sort(indices % data.shape[axis], axis=axis)
    return bool((np.diff(ordered, axis=axis) == 0).any())

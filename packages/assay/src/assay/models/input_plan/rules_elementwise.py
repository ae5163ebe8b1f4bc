"""Operators that work element by element, with their values where these are few; reductions and normalizations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.models.input_plan.graph import UNKNOWN, Node, Value, of_data
from assay.models.input_plan.shape_engine import Evaluation
from assay.models.input_plan.shape_rules import (
    RULES,
    Conflict,
    Inputs,
    at,
    axis_of,
    broadcast,
    equal,
    ints,
    plain,
    rule,
)

Fold = Callable[..., Any]


def _divide(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype.kind in "iu":
        quotient = np.abs(a) // np.abs(b)
        return np.sign(a) * np.sign(b) * quotient
    return a / b


UNARY: dict[str, Fold] = {
    "Neg": np.negative, "Abs": np.abs, "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint, "Sqrt": np.sqrt,
    "Exp": np.exp, "Log": np.log, "Not": np.logical_not, "Sign": np.sign, "Reciprocal": np.reciprocal,
    "Identity": lambda x: x, "Relu": lambda x: np.maximum(x, 0), "IsNaN": np.isnan, "BitwiseNot": np.invert,
}  # fmt: skip
BINARY: dict[str, Fold] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide, "Pow": np.power, "Equal": np.equal,
    "Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor, "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor,
}  # fmt: skip
VARIADIC: dict[str, Fold] = {"Max": np.maximum, "Min": np.minimum, "Sum": np.add}

_SAME = (
    "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan Tanh Sigmoid HardSigmoid HardSwish Elu Selu Celu LeakyRelu "
    "ThresholdedRelu Softplus Softsign Mish Gelu Erf Shrink IsInf Bernoulli Softmax LogSoftmax Hardmax LRN MeanVarianceNormalization "
    "LpNormalization Swish Dropout QuickGelu FastGelu BiasGelu Clip CumSum Trilu ReverseSequence Det Scaler Normalizer Binarizer "
    "DequantizeLinear QuantizeLinear Cast CastLike DynamicQuantizeLinear InstanceNormalization LayerNormalization "
    "GroupNormalization RMSNormalization BatchNormalization SimplifiedLayerNormalization SkipLayerNormalization "
    "SkipSimplifiedLayerNormalization GroupNorm Inverse Affine ParametricSoftplus ScaledTanh RandomNormalLike "
    "RandomUniformLike EyeLike LabelEncoder QLinearSigmoid QLinearLeakyRelu QLinearSoftmax Imputer StringNormalizer"
)


def _known(inputs: Inputs) -> bool:
    return all(one.data is not None for one in inputs)


def _folded(fold: Fold, inputs: Inputs) -> Value:
    with np.errstate(all="ignore"):
        result = np.asarray(fold(*(one.data for one in inputs)))
    return of_data(result)


def _unary(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    return [_folded(UNARY[node.op], inputs)] if _known(inputs[:1]) else plain(inputs[0].shape)


def _binary(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    first, second = (one.shape for one in inputs[:2])
    axis = node.attributes.get("axis")
    if axis is not None and first is not None and second is not None and node.attributes.get("broadcast"):
        second = second + (1,) * (len(first) - axis - len(second))
    shape = broadcast((first, second))
    return [_folded(BINARY[node.op], inputs)] if _known(inputs) else plain(shape)


def _variadic(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = broadcast([one.shape for one in inputs])
    if not _known(inputs):
        return plain(shape)
    result = inputs[0].data
    for one in inputs[1:]:
        result = VARIADIC[node.op](result, one.data)
    return [of_data(np.asarray(result))]


RULES.update(dict.fromkeys(UNARY, _unary))
RULES.update(dict.fromkeys(BINARY, _binary))
RULES.update(dict.fromkeys((*VARIADIC, "Mean"), _variadic))


def _same(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    return [Value(inputs[0].shape), *(UNKNOWN for _ in node.outputs[1:])]


RULES.update(dict.fromkeys(_SAME.split(), _same))


@rule("QLinearAdd", "QLinearMul")
def _quantized_binary(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    return plain(broadcast((inputs[0].shape, inputs[3].shape)))


@rule("Mod", "BitShift")
def _modulo(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = broadcast([one.shape for one in inputs[:2]])
    fold = np.fmod if node.attributes.get("fmod") else np.mod
    return [_folded(fold, inputs)] if node.op == "Mod" and _known(inputs) else plain(shape)


@rule("PRelu")
def _prelu(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    broadcast((inputs[0].shape, inputs[1].shape))
    return plain(inputs[0].shape)


@rule("Where")
def _where(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = broadcast([one.shape for one in inputs])
    return [_folded(np.where, inputs)] if _known(inputs) else plain(shape)


@rule("Cast")
def _cast(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    if inputs[0].data is None or inputs[0].data.dtype == object:
        return plain(inputs[0].shape)
    from onnx.helper import tensor_dtype_to_np_dtype

    to = node.attributes.get("to", 1)
    if to == 8:
        return plain(inputs[0].shape)
    with np.errstate(all="ignore"):
        return [of_data(inputs[0].data.astype(tensor_dtype_to_np_dtype(to)))]


@rule("Clip")
def _clip(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    data = inputs[0].data
    low, high = at(inputs, 1).data, at(inputs, 2).data
    if data is None or (len(inputs) > 1 and low is None) or (len(inputs) > 2 and high is None):
        return plain(inputs[0].shape)
    low = node.attributes.get("min", low)
    high = node.attributes.get("max", high)
    return plain(inputs[0].shape) if low is None and high is None else [of_data(np.clip(data, low, high))]


@rule("BatchNormalization", "InstanceNormalization")
def _channels(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, scale = inputs[0].shape, at(inputs, 1).shape
    if shape is not None and len(shape) > 1 and scale:
        equal(shape[1], scale[0], "the channels of the input and of the scale")
    return [Value(shape), *(Value(scale) for _ in node.outputs[1:])]


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def _layer(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, scale = inputs[0].shape, at(inputs, 1).shape
    if shape is not None and scale:
        broadcast((shape, scale))
    return [Value(shape), *(UNKNOWN for _ in node.outputs[1:])]


_TOTALS: dict[str, Fold] = {"ReduceProd": np.prod, "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}
_REDUCED = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


@rule("ArgMax", "ArgMin", *(f"Reduce{one}" for one in _REDUCED))
def _reduce(node: Node, inputs: Inputs, scope: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    axes = node.attributes.get("axes")
    if node.op.startswith("Arg"):
        axes = [node.attributes.get("axis", 0)]
    elif len(inputs) > 1 and node.inputs[1]:
        axes = ints(inputs[1])
        if axes is None:
            return [UNKNOWN]
    if shape is None:
        return [UNKNOWN]
    keep = node.attributes.get("keepdims", 1)
    if not axes:
        if axes is not None and node.attributes.get("noop_with_empty_axes"):
            return plain(shape)
        reduced = set(range(len(shape)))
    else:
        reduced = {axis_of(one, len(shape)) for one in axes}
    data = inputs[0].data
    fold = _TOTALS.get(node.op)
    if data is not None and data.size and fold is not None:
        return [of_data(np.asarray(fold(data, axis=tuple(reduced), keepdims=bool(keep))).astype(data.dtype))]
    if any(shape[axis] == 0 for axis in reduced):
        raise Conflict(f"an axis of size 0 is reduced in {list(shape)}")
    dims = tuple(1 if axis in reduced else size for axis, size in enumerate(shape) if keep or axis not in reduced)
    return plain(dims)

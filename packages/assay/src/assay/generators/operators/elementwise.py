"""One number in, one number out; and two or more, broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, NUMBERS, broadcast_shape, flag, form, version_has
from assay.generators.schemas import NotMade
from assay.ports import Tensor

_RANGES = {
    "Log": (0.125, 6.0), "Sqrt": (0.0, 9.0), "Acos": (-1.0, 1.0), "Asin": (-1.0, 1.0), "Acosh": (1.25, 5.0),
    "Atanh": (-0.875, 0.875), "Tan": (-1.25, 1.25), "Reciprocal": (0.25, 4.0), "Cosh": (-3.0, 3.0), "Sinh": (-3.0, 3.0),
}  # fmt: skip
_RESULTS = {
    "Sigmoid": (0.0, 1.0), "HardSigmoid": (0.0, 1.0), "Tanh": (-1.0, 1.0), "Erf": (-1.0, 1.0), "Sin": (-1.0, 1.0), "Cos": (-1.0, 1.0),
    "Softsign": (-1.0, 1.0), "Sign": (-1.0, 1.0),
}  # fmt: skip


@form(
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor HardSwish Identity Log Mish Neg Reciprocal Relu Round "
    "Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh"
)
def unary(build: Build, operator: str) -> list[Operand]:
    low, high = _RANGES.get(operator, (-3.0, 3.0))
    x = build.operand(build.dtype(operator, among=NUMBERS), low=low, high=high, empty=True, domain=operator in _RANGES)
    if operator in ("Abs", "Relu", "Sqrt", "Exp", "Softplus"):
        return build.node(operator, [x], low=0.0, high=max(abs(low), abs(high)) if operator != "Exp" else 21.0)
    least, most = _RESULTS.get(operator, (-float("inf"), float("inf")))
    return build.node(operator, [x], low=least, high=most)


@form("Not IsNaN IsInf BitwiseNot")
def of_bits(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator), empty=True, low=-100 if operator == "BitwiseNot" else -3, high=100)
    more: dict[str, Any] = {}
    if operator == "IsInf":
        more = {"detect_negative": flag(build), "detect_positive": flag(build)}
    return build.node(operator, [x], **more)


@form("Celu Elu LeakyRelu ThresholdedRelu Selu HardSigmoid Shrink Gelu Swish")
def activation(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=FLOATS), empty=True)
    draws = build.draws
    attributes: dict[str, Any] = {}
    for name in ("alpha", "beta", "gamma", "lambd", "bias"):
        if version_has(build, operator, name) and draws.chance(60):
            attributes[name] = draws.one_of(
                (0.25, 0.5, 0.75, 1.0, 1.5, 0.0 if operator not in ("Celu", "Swish") else 2.0)
            )
    if operator == "Gelu":
        attributes["approximate"] = draws.one_of((None, "none", "tanh"))
    return build.node(operator, [x], **attributes)


@form("Add Sub Mul Div")
def arithmetic(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=NUMBERS)
    first = build.operand(dtype, empty=True, fixed=10)
    low = 0.5 if operator == "Div" else -3.0
    if operator == "Div" and not dtype.startswith("float"):
        low = 1.0
    second = build.operand(dtype, broadcast_shape(build, first.shape), low=low, fixed=40, domain=operator == "Div")
    reads = [first, first if build.reuse and operator != "Div" and build.draws.chance(10) else second]
    if operator != "Div" and build.draws.chance(40):
        reads.reverse()
    if all(read.constant is not None for read in reads):
        raise NotMade
    return build.node(operator, reads, low=0.0 if operator == "Mul" and reads[0] is reads[1] else -np.inf)


@form("Pow")
def power(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=FLOATS)
    base = build.operand(dtype, low=0.25, high=3.0, domain=True)
    other = dtype if build.opset < 12 else build.draws.one_of(build.dtypes(operator, 1, (*FLOATS, "int32", "int64")))
    if build.draws.chance(50):
        exponent = build.constant(_scalar(build.draws.one_of((0, 1, 2, 3)), other))
    else:
        exponent = build.operand(other, broadcast_shape(build, base.shape), low=0.0, high=2.0, fixed=40, domain=True)
    return build.node(operator, [base, exponent])


def _scalar(number: float, dtype: str) -> Tensor:
    return np.asarray(np.asarray(number).astype(dtype))


@form("Mod")
def modulo(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=NUMBERS)
    first = build.operand(dtype, low=-30, high=30)
    second = build.operand(dtype, broadcast_shape(build, first.shape), low=1, high=7, domain=True)
    real = dtype.startswith("float")
    return build.node(operator, [first, second], fmod=1 if real else flag(build))


@form("Max Min Mean Sum")
def variadic(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=NUMBERS)
    first = build.operand(dtype)
    same = build.opset < 8
    others = [
        build.operand(dtype, first.shape if same else broadcast_shape(build, first.shape), fixed=30)
        for _ in range(build.draws.between(0, 2))
    ]
    return build.node(operator, build.draws.shuffled([first, *others]))


@form("Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor")
def comparison(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=(*NUMBERS, "bool"))
    first = build.operand(dtype)
    second = build.operand(dtype, broadcast_shape(build, first.shape), fixed=30)
    return build.node(operator, [first, second])


@form("BitwiseAnd BitwiseOr BitwiseXor")
def bitwise(build: Build, operator: str) -> list[Operand]:
    dtype = build.draws.one_of(build.dtypes(operator))
    first = build.operand(dtype, low=-100, high=100)
    return build.node(operator, [first, build.operand(dtype, broadcast_shape(build, first.shape), low=-9, high=99)])


@form("BitShift")
def shift(build: Build, operator: str) -> list[Operand]:
    dtype = build.draws.one_of(build.dtypes(operator))
    first = build.operand(dtype, low=0, high=100)
    second = build.operand(dtype, broadcast_shape(build, first.shape), low=0, high=7, domain=True)
    return build.node(operator, [first, second], direction=build.draws.one_of(("LEFT", "RIGHT")))


@form("PRelu")
def prelu(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=NUMBERS))
    slope = build.operand(x.dtype, broadcast_shape(build, x.shape), low=0, high=2, fixed=60)
    return build.node(operator, [x, slope])


@form("Where")
def where(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, 1, (*NUMBERS, "bool"))
    first = build.operand(dtype)
    condition = build.operand("bool", broadcast_shape(build, first.shape))
    second = build.operand(dtype, broadcast_shape(build, first.shape), fixed=30)
    return build.node(operator, [condition, *build.draws.shuffled([first, second])])


@form("Clip")
def clip(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=NUMBERS)
    x = build.operand(dtype, empty=True)
    least, most = draws.one_of((None, -1.0, 0.0, 1.0)), draws.one_of((None, 1.0, 2.0, 6.0))
    if build.since(operator) >= 13 and draws.chance(10):
        least, most = 2.0, draws.one_of((0.0, 1.0))  # all becomes the largest then, as the text says since opset 13
    if version_has(build, operator, "min"):
        return build.node(operator, [x], min=least, max=most)
    ends: list[Operand | None] = []
    for bound in (least, most):
        number = None if bound is None else _scalar(max(bound, 0.0) if dtype.startswith("uint") else bound, dtype)
        ends.append(None if number is None else build.constant(number) if draws.chance(70) else build.input(number))
    while ends and ends[-1] is None:
        ends.pop()
    return build.node(operator, [x, *ends])


@form("Cast")
def cast(build: Build, operator: str) -> list[Operand]:
    from onnx import helper

    from assay.generators.build import numpy_of

    kinds = (*NUMBERS, "bool")
    source = build.dtype(operator, among=kinds)
    to = build.draws.one_of(kinds)
    x = build.operand(source, low=0.0 if to.startswith("uint") else -3.0, high=100.0 if build.draws.chance(30) else 3.0)
    return build.node(operator, [x], to=helper.np_dtype_to_tensor_dtype(numpy_of(to)), high=x.high, low=x.low)


@form("CumSum CumProd")
def running(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=(*FLOATS, "int32", "int64"))
    x = build.operand(dtype, ranks=(1, 2, 3), low=-1.5, high=1.5)
    axis = build.steering(build.draws.between(-x.rank, x.rank - 1), build.draws.one_of(("int64", "int32")))
    return build.node(operator, [x, axis], exclusive=flag(build), reverse=flag(build))

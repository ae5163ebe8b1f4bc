"""Operators between two grids: dequantize, compute, quantize, which is their definition (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import helper

from assay.numerics.operators.matrix_products import gemm_shape
from assay.numerics.operators.pooling import global_pool_shape, pool_shape
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Decomposition, Unknown
from assay.numerics.shapes.constraints import Inputs, Walk, broadcast, plain
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.values import Node, Value

_POOL = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
_WINDOW = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def scalar(body: Body, name: str) -> str:
    """A stored vector of one number as that number: a vector would mean one for each index."""
    if not name:
        return name
    try:
        array = body.stored(name)
    except Unknown:
        return name
    return body.tensor(array.reshape(())) if array.size == 1 and array.ndim else name


def real(body: Body, at: int, value: str = "") -> str:
    """The input `at` off its grid, scale and zero point behind it."""
    body.needs(10)
    scale, zero = (scalar(body, body.input(at + step)) for step in (1, 2))
    return body.step("DequantizeLinear", value or body.input(at), scale, zero)


def on_grid(body: Body, value: str, scale: int, zero: int, like: str) -> str:
    """By the inputs of these numbers; a zero point that is left out is 0, in the type of `like`."""
    offset = scalar(body, body.input(zero))
    if not offset:
        offset = body.tensor(np.zeros((), helper.tensor_dtype_to_np_dtype(body.type_of(like))))
    return body.step("QuantizeLinear", value, scalar(body, body.input(scale)), offset)


def _binary(kind: str) -> Decomposition:
    def steps(body: Body) -> None:
        result = body.step(kind, real(body, 0), real(body, 3))
        body.give(on_grid(body, result, 6, 7, body.input(0)))

    return steps


def _unary(compute: Callable[[Body, str], str]) -> Decomposition:
    def steps(body: Body) -> None:
        body.give(on_grid(body, compute(body, real(body, 0)), 3, 4, body.input(0)))

    return steps


def _leaky(body: Body, x: str) -> str:
    return body.step("LeakyRelu", x, alpha=body.attribute("alpha", 0.01))


def channels_first(body: Body, value: str, rank: int) -> str:
    return body.step("Transpose", value, perm=[0, rank - 1, *range(1, rank - 1)])


def channels_last(body: Body, value: str, rank: int) -> str:
    return body.step("Transpose", value, perm=[0, *range(2, rank), 1])


def _in_channels(body: Body, x: str, rank: int, compute: Callable[[str], str]) -> str:
    """With channels behind all other axes where the attribute says so."""
    if not body.attribute("channels_last", 0):
        return compute(x)
    return channels_last(body, compute(channels_first(body, x, rank)), rank)


def _average(body: Body, x: str) -> str:
    rank = len(body.attribute("kernel_shape")) + 2
    return _in_channels(body, x, rank, lambda value: body.step("AveragePool", value, **body.attributes(*_POOL)))


def _global_average(body: Body, x: str) -> str:
    rank = body.rank(body.input(0)) if body.attribute("channels_last", 0) else 0
    return _in_channels(body, x, rank, lambda value: body.step("GlobalAveragePool", value))


def _softmax(body: Body, x: str) -> str:
    """`opset` says whose definition: before 13 all axes from `axis` on are one, which is the model's own Softmax if that is as old."""
    axis, old = body.attribute("axis", -1), body.attribute("opset", 13) < 13
    if old != (body.version < 13) and axis not in (-1, body.rank(body.input(0)) - 1 if axis != -1 else -1):
        raise Unknown
    return body.step("Softmax", x, axis=axis)


def _concat(body: Body) -> None:
    parts = [real(body, at) for at in range(2, len(body.node.input), 3)]
    whole = body.step("Concat", *parts, axis=body.attribute("axis"))
    body.give(on_grid(body, whole, 0, 1, body.input(2)))


def _where(body: Body) -> None:
    chosen = body.step("Where", body.input(0), real(body, 1), real(body, 4))
    body.give(on_grid(body, chosen, 7, 8, body.input(1)))


def _gemm(body: Body) -> None:
    """(A - a_zero) (B - b_zero) + C in whole numbers, by alpha and both scales; on a grid where there is one."""
    body.needs(10)
    a, b = (
        body.step("Transpose", body.input(at), perm=[1, 0]) if body.attribute(turned, 0) else body.input(at)
        for at, turned in ((0, "transA"), (3, "transB"))
    )
    product = body.step("MatMulInteger", a, b, scalar(body, body.input(2)), scalar(body, body.input(5)))
    total = body.step("Cast", body.add(product, body.input(6)), to=body.type_of(body.input(1)))
    scale = body.times(body.step("Mul", scalar(body, body.input(1)), body.input(4)), body.attribute("alpha", 1.0))
    value = body.step("Mul", total, scale)
    body.give(on_grid(body, value, 7, 8, body.input(0)) if body.input(7) else value)


def _convolution(body: Body) -> None:
    """The standard's, with channels behind all other axes where the attribute says so."""
    body.needs(10)
    x, others = body.input(0), [body.input(at) for at in range(1, 9)]
    rank = body.rank(body.input(3)) if body.attribute("channels_last", 0) else 0
    attributes = body.attributes(*_WINDOW)
    body.give(_in_channels(body, x, rank, lambda value: body.step("QLinearConv", value, *others, **attributes)))


def _standard(kind: str) -> Decomposition:
    """The operator of the standard by that name."""

    def steps(body: Body) -> None:
        body.needs(10)
        scale, zero = scalar(body, body.input(1)), scalar(body, body.input(2))
        attributes = body.attributes("axis") if body.version >= 13 else {}
        body.give(body.step(kind, body.input(0), scale, zero, **attributes))

    return steps


def _quantized_binary_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    return plain(broadcast((inputs[0].shape, inputs[3].shape)))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("QuantizeLinear", domain=MICROSOFT, decomposition=_standard("QuantizeLinear")),
    *alike("DequantizeLinear", domain=MICROSOFT, decomposition=_standard("DequantizeLinear")),
    *alike("QLinearAdd", domain=MICROSOFT, decomposition=_binary("Add"), shape=_quantized_binary_shape),
    *alike("QLinearMul", domain=MICROSOFT, decomposition=_binary("Mul"), shape=_quantized_binary_shape),
    *alike(
        "QLinearSigmoid",
        domain=MICROSOFT,
        decomposition=_unary(lambda body, x: body.step("Sigmoid", x)),
        shape=same_shape,
    ),
    *alike("QLinearLeakyRelu", domain=MICROSOFT, decomposition=_unary(_leaky), shape=same_shape),
    *alike("QLinearAveragePool", domain=MICROSOFT, decomposition=_unary(_average), shape=pool_shape),
    *alike(
        "QLinearGlobalAveragePool", domain=MICROSOFT, decomposition=_unary(_global_average), shape=global_pool_shape
    ),
    *alike("QLinearSoftmax", domain=MICROSOFT, decomposition=_unary(_softmax), shape=same_shape),
    *alike("QLinearConcat", domain=MICROSOFT, decomposition=_concat),
    *alike("QLinearWhere", domain=MICROSOFT, decomposition=_where),
    *alike("QGemm", domain=MICROSOFT, decomposition=_gemm, shape=gemm_shape),
    *alike("QLinearConv", domain=MICROSOFT, decomposition=_convolution),
)

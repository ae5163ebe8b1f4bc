"""Products with something fused to them, or of quantized numbers (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.convolution import convolution_shape
from assay.numerics.operators.matrix_products import product_shape
from assay.numerics.operators.microsoft_activations import activated
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Unknown
from assay.numerics.oracle.contrib.few_bits import COARSE, coarse_product, four_bit_floats, unpacked
from assay.numerics.shapes.constraints import Inputs, Walk, equal, plain
from assay.numerics.shapes.values import UNKNOWN, Node, Value

_WINDOW = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def _turned(body: Body, value: str, last: bool, batch: bool) -> str:
    """`last`: the last two axes change places; `batch`: before that, the first axis goes behind those of the batch."""
    if not last and not batch:
        return value
    rank = body.rank(value)
    if rank < 2:
        return value
    order = list(range(rank))
    if batch:
        order = [*order[1 : rank - 1], 0, rank - 1]
    if last:
        order[-2:] = order[:-3:-1]
    return body.step("Transpose", value, perm=order)


def _matmul(body: Body) -> None:
    """alpha A B, each turned as told."""
    left, right = (
        _turned(
            body,
            body.input(at),
            bool(body.attribute(f"trans{letter}", 0)),
            bool(body.attribute(f"transBatch{letter}", 0)),
        )
        for at, letter in enumerate("AB")
    )
    body.give(body.times(body.step("MatMul", left, right), body.attribute("alpha", 1.0)))


def _gemm(body: Body) -> None:
    attributes = body.attributes("alpha", "beta", "transA", "transB")
    product = body.step("Gemm", body.input(0), body.input(1), body.input(2), **attributes)
    dict_values = body.attributes("activation_alpha", "activation_beta").values()
    body.give(activated(body, product, body.attribute("activation", ""), list(dict_values)))


def _convolution(body: Body) -> None:
    """Conv, then what is added to it, then the activation."""
    product = body.step("Conv", body.input(0), body.input(1), body.input(2), **body.attributes(*_WINDOW))
    whole = body.add(product, body.input(3))
    body.give(activated(body, whole, body.attribute("activation", ""), body.attribute("activation_params", [])))


def _transposed_convolution(body: Body) -> None:
    pads = [int(pad) for pad in body.stored(body.input(2))] if body.input(2) else None
    attributes = body.attributes(*_WINDOW, "output_padding")
    if pads is not None:
        attributes["pads"] = pads
    body.give(body.step("ConvTranspose", body.input(0), body.input(1), body.input(3), **attributes))


def scaled(body: Body, product: str, left: str, right: str, bias: str) -> str:
    """Whole numbers by the scales of both sides, and a bias."""
    real = body.step("Cast", product, to=body.type_of(left))
    return body.add(body.step("Mul", real, body.step("Mul", left, right)), bias)


def _integers(body: Body) -> None:
    """(A - a_zero) (B - b_zero) a_scale b_scale + bias."""
    body.needs(10)
    a, b, a_scale, b_scale, a_zero, b_zero, bias = (body.input(at) for at in range(7))
    body.give(scaled(body, body.step("MatMulInteger", a, b, a_zero, b_zero), a_scale, b_scale, bias))


def _dynamic(body: Body) -> None:
    """The same of A on a grid of its own range."""
    body.needs(11)
    a, b, b_scale, b_zero, bias = (body.input(at) for at in range(5))
    grid, scale, zero = body.several("DynamicQuantizeLinear", [a], 3)
    body.give(scaled(body, body.step("MatMulInteger", grid, b, zero, b_zero), scale, b_scale, bias))


def _few_bits(body: Body) -> None:
    """A times B^T, B in blocks along K. With accuracy_level 4 an engine may round A to eight bits, which no steps say."""
    if body.attribute("accuracy_level", 0) == COARSE:
        raise Unknown
    packed, scales = body.stored(body.input(1)), body.stored(body.input(2))
    zeros, group = (body.stored(body.input(at)) if body.input(at) else None for at in (3, 4))
    attributes = body.attributes("N", "K", "bits", "block_size")
    weights = unpacked(packed, scales.astype(np.float64), zeros, group, attributes)
    product = body.step("MatMul", body.input(0), body.tensor(np.ascontiguousarray(weights.T).astype(scales.dtype)))
    body.give(body.add(product, body.input(5)))


def _four_bit_floats(body: Body) -> None:
    """A times B^T, or B as it is stored where transB is 0; B of four-bit floats, one scale a block of the numbers in a row."""
    size = (body.attribute("N"), body.attribute("K"))
    weights = four_bit_floats(
        body.stored(body.input(1)),
        body.stored(body.input(2)),
        size,
        body.attribute("block_size"),
        body.attribute("quant_type"),
    )
    if body.attribute("transB", 1):
        weights = weights.T
    body.give(body.step("MatMul", body.input(0), body.tensor(np.ascontiguousarray(weights))))


def _four_bit_floats_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    inner, outer = ("K", "N") if node.attributes.get("transB", 1) else ("N", "K")
    equal(shape[-1], node.attributes.get(inner), ConstraintCode.INNER_SIZES)
    return plain((*shape[:-1], node.attributes.get(outer)))


def _few_bits_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    equal(shape[-1], node.attributes.get("K"), ConstraintCode.INNER_SIZES)
    return plain((*shape[:-1], node.attributes.get("N")))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("FusedMatMul", domain=MICROSOFT, decomposition=_matmul, shape=product_shape),
    *alike("TransposeMatMul", domain=MICROSOFT, decomposition=_matmul),
    *alike("FusedGemm", domain=MICROSOFT, decomposition=_gemm),
    *alike("FusedConv", domain=MICROSOFT, decomposition=_convolution, shape=convolution_shape),
    *alike("ConvTransposeWithDynamicPads", domain=MICROSOFT, decomposition=_transposed_convolution),
    *alike("MatMulIntegerToFloat", domain=MICROSOFT, decomposition=_integers, shape=product_shape),
    *alike("DynamicQuantizeMatMul", domain=MICROSOFT, decomposition=_dynamic, shape=product_shape),
    *alike(
        "MatMulNBits",
        domain=MICROSOFT,
        decomposition=_few_bits,
        jumps=True,
        reference="contrib.placeholders",
        kernel=coarse_product,
        result_ranks=(None,),
        shape=_few_bits_shape,
    ),
    *alike("NhwcConv NhwcFusedConv", domain=MICROSOFT, shape=convolution_shape),
    *alike("MatMulBnb4", domain=MICROSOFT, decomposition=_four_bit_floats, shape=_four_bit_floats_shape),
)

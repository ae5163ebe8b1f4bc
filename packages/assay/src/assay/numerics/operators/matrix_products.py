"""Products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.mutations import BIAS, LAYER
from assay.numerics.operators.record import Attribute, OnnxOperator, Sizes, alike
from assay.numerics.oracle.batched.operator import Operator
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, broadcast, equal, plain
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.rules.sums import product


def _matmul_rows(operator: Operator) -> Values | None:
    if min(len(operator.shape(0)), len(operator.shape(1))) < 2:
        return None
    return (np.matmul(*operator.aligned()),)


def _gemm_rows(operator: Operator) -> Values | None:
    a, b, *others = operator.inputs
    a = a.swapaxes(-1, -2) if operator.attribute("transA") else a
    b = b.swapaxes(-1, -2) if operator.attribute("transB") else b
    y = a @ b * operator.attribute("alpha", 1.0)
    if others and others[0] is not None:
        y = y + operator.aligned(2)[2] * operator.attribute("beta", 1.0)
    return (y.astype(a.dtype, copy=False),)


def product_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    first, second = inputs[0].shape, at(inputs, 3 if node.op == "QLinearMatMul" else 1).shape
    if first is None or second is None:
        return [UNKNOWN]
    if not first or not second:
        raise Conflict(ConstraintCode.SCALAR_AS_MATRIX)
    if node.attributes.get("transA") and len(first) > 1:
        first = (*first[:-2], first[-1], first[-2])
    if node.attributes.get("transB") and len(second) > 1:
        second = (*second[:-2], second[-1], second[-2])
    inner = second[-2] if len(second) > 1 else second[0]
    equal(first[-1], inner, ConstraintCode.INNER_SIZES)
    batch = broadcast((first[:-2], second[:-2])) or ()
    rows = first[-2:-1] if len(first) > 1 else ()
    columns = second[-1:] if len(second) > 1 else ()
    return plain((*batch, *rows, *columns))


def gemm_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    first, second = inputs[0].shape, at(inputs, 3 if node.op == "QGemm" else 1).shape
    if first is None or second is None:
        return [UNKNOWN]
    equal(len(first), 2, ConstraintCode.MATRIX_RANK)
    first = first[::-1] if node.attributes.get("transA") else first
    second = second[::-1] if node.attributes.get("transB") else second
    equal(first[1], second[0], ConstraintCode.INNER_SIZES)
    return plain((first[0], second[1]))


def _matrix_flops(inputs: Sequence[Sizes], output: Sizes, _: Attribute) -> float:
    return 2.0 * math.prod(output) * inputs[0][-1]


def _gemm_flops(inputs: Sequence[Sizes], output: Sizes, attribute: Attribute) -> float:
    return 2.0 * math.prod(output) * inputs[0][0 if attribute("transA") else 1]


def _gemm_axis(place: int, _: int, attribute: Attribute) -> int:
    transposed = bool(attribute("transB" if place == 1 else "transA"))
    return int(transposed) if place == 1 else 1 - int(transposed)


def _inner_axis(place: int, rank: int, _: Attribute) -> int:
    return rank - 1 if place == 0 else rank - 2


def _gemm_terms(call: Call) -> float:
    a = call.inputs[0]
    return float(a.shape[0] if call.attributes.get("transA") else a.shape[-1])


def _matrix_terms(call: Call) -> float:
    a = call.inputs[0]
    return float(a.shape[-1] if a.ndim else 1)


def _gemm_channels(place: int, attribute: Attribute) -> int | None:
    return None if place == 0 else 0 if attribute("transB") else 1


def _matrix_channels(place: int, _: Attribute) -> int:
    return -2 if place == 0 else -1


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "MatMul",
        rounding=product(_matrix_terms),
        weights=(0, 1),
        terms=_matrix_terms,
        contracted=_inner_axis,
        channels=_matrix_channels,
        fresh=True,
        batched=_matmul_rows,
        shape=product_shape,
        flops=_matrix_flops,
        mutations=LAYER | {"swap-operands"},
    ),
    *alike(
        "Gemm",
        rounding=product(_gemm_terms),
        weights=(0, 1),
        terms=_gemm_terms,
        contracted=_gemm_axis,
        channels=_gemm_channels,
        bias=2,
        reference="old_forms",
        fresh=True,
        batched=_gemm_rows,
        shape=gemm_shape,
        flops=_gemm_flops,
        mutations=LAYER | BIAS,
    ),
    *alike(
        "MatMulInteger",
        moves=True,
        zero_points=(2, 3),
        reference="whole_products",
        shape=product_shape,
        mutations={"zero-point-step"},
    ),
)

"""Operators of com.microsoft beside numpy written from their documentation, where ONNX Runtime is no witness or the only one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from contrib_case import Case, real, whole

from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.tolerance.simulate.double_evaluation import as_type
from assay.ports import Tensor

NF4 = (-1.0, -0.6961928, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0.0, 0.0795803, 0.1609302,
       0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0)  # fmt: skip
"""Dettmers et al. 2023, QLoRA, arXiv:2305.14314, appendix E."""
FP4 = tuple(sign * number for sign in (1, -1) for number in (0.0, 0.005208333, 2 / 3, 1.0, 1 / 3, 0.5, 1 / 6, 0.25))


def _answers(case: Case) -> list[Tensor]:
    return WideEvaluator(case.model()).evaluate(as_type(case.feeds(), np.float64))


def _softmax(scores: Tensor) -> Tensor:
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize(("kind", "table"), [(0, FP4), (1, NF4)])
def test_four_bit_floats_times_their_scale(kind: int, table: tuple[float, ...], transposed: int) -> None:
    """ONNX Runtime 1.31.1 transposes B whatever transB says (docs/findings)."""
    rows, columns, block = 3, 40, 16
    packed, scales = whole(rows * columns // 2), real(-(-rows * columns // block))
    b = np.zeros((rows, columns))
    for at in range(rows * columns):
        byte = int(packed[at // 2])
        b[at // columns, at % columns] = table[byte % 16 if at % 2 else byte // 16] * float(scales[at // block])
    a = real(2, columns if transposed else rows)
    sizes = {"N": rows, "K": columns, "block_size": block, "quant_type": kind, "transB": transposed}
    (answer,) = _answers(Case("MatMulBnb4", (a, packed, scales), sizes, stored=(1, 2)))
    np.testing.assert_allclose(answer, a.astype(np.float64) @ (b.T if transposed else b), rtol=0, atol=1e-5)


@pytest.mark.parametrize("smooth", [False, True])
def test_a_sink_takes_its_share_of_the_softmax(smooth: bool) -> None:
    """Of a smooth softmax it is 0, and its exponential 1."""
    heads, groups, new, size = 4, 2, 5, 8
    query, keys, values = real(1, new, heads * size), real(1, new, groups * size), real(1, new, groups * size)
    sink = np.zeros(heads, np.float32) if smooth else real(heads) + 2
    given = (query, keys, values, None, None, np.array([new - 1], np.int32), np.array(new, np.int32))
    attributes = {"num_heads": heads, "kv_num_heads": groups, **({"smooth_softmax": 1} if smooth else {})}
    inputs = given if smooth else (*given, *[None] * 4, sink)
    answers = _answers(Case("GroupQueryAttention", inputs, attributes, outputs=("Y", "K", "V"), declared=True))[0]
    expected = np.zeros((new, heads, size))
    for head in range(heads):
        q, k, v = (
            tensor[0].reshape(new, -1, size)[:, at].astype(np.float64)
            for tensor, at in ((query, head), (keys, head // 2), (values, head // 2))
        )
        for token in range(new):
            raised = np.exp(k[: token + 1] @ q[token] / math.sqrt(size))
            expected[token, head] = raised @ v[: token + 1] / (raised.sum() + math.exp(sink[head]))
    np.testing.assert_allclose(answers[0], expected.reshape(new, -1), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("fused", [0, 1, 2])
@pytest.mark.parametrize("normalized", [0, 1])
def test_each_token_goes_to_the_experts_that_its_router_names(fused: int, normalized: int) -> None:
    """Two of five, their results by their shares; two layers side by side (0), interleaved (1), one behind the other (2)."""
    tokens, experts, width, inner, limit = 6, 5, 4, 7, 0.8
    x, router = real(tokens, width), real(tokens, experts)
    gate, linear, out = real(experts, inner, width), real(experts, inner, width), real(experts, width, inner)
    gate_bias, linear_bias, out_bias = real(experts, inner), real(experts, inner), real(experts, width)
    expected = np.zeros((tokens, width))
    for token, row in enumerate(router.astype(np.float64)):
        shares, chosen = _softmax(row), np.argsort(row)[-2:]
        for expert in chosen:
            g = np.minimum(gate[expert] @ x[token].astype(np.float64) + gate_bias[expert], limit)
            l_ = np.clip(linear[expert] @ x[token].astype(np.float64) + linear_bias[expert], -limit, limit)
            hidden = g / (1 + np.exp(-1.5 * g)) * (l_ + 1)
            share = shares[expert] / (shares[chosen].sum() if normalized else 1)
            expected[token] += share * (out[expert] @ hidden + out_bias[expert])
    named = {"k": 2, "normalize_routing_weights": normalized, "activation_type": "swiglu", "swiglu_fusion": fused,
             "swiglu_limit": limit, "activation_alpha": 1.5, "activation_beta": 1.0}  # fmt: skip
    first: tuple[Tensor | None, ...] = (gate, gate_bias)
    if fused == 1:
        both = np.stack([gate, linear], 2), np.stack([gate_bias, linear_bias], 2)
        first = (both[0].reshape(experts, -1, width), both[1].reshape(experts, -1))
    elif fused == 2:
        first = (np.concatenate([gate, linear], 1), np.concatenate([gate_bias, linear_bias], 1))
    third = () if fused else (linear, linear_bias)
    inputs = (x, router, *first, out, out_bias, *third)
    (answer,) = _answers(Case("MoE", inputs, named, tuple(range(2, len(inputs)))))
    np.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-6)

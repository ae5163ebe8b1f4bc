"""A layer of several small networks, of which each token goes to the few that its router names (ONNX Runtime, ContribOperators.md,
MoE)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.microsoft_activations import fast_gelu
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Unknown
from assay.numerics.shapes.constraints import Inputs, Walk, equal, plain
from assay.numerics.shapes.values import UNKNOWN, Node, Value

_GATED = "swiglu"


def _experts(body: Body) -> None:
    """Every network for every token, times its share, which is 0 where the router chose others."""
    body.needs(13)
    if body.attribute("use_sparse_mixer", 0):
        raise Unknown
    width = body.size(body.input(2), 2)
    tokens = body.unsqueeze(body.reshape(body.input(0), -1, width), 0)
    first = _layer(body, tokens, 2)
    second = _layer(body, _activated(body, first, tokens), 4)
    shares = body.unsqueeze(body.step("Transpose", _shares(body), perm=[1, 0]), 2)
    answer = body.total(body.step("Mul", second, shares), 0)
    body.give(body.step("Reshape", answer, body.step("Shape", body.input(0))))


def _shares(body: Body) -> str:
    """(tokens, experts): the softmax of the router's numbers where they are among the k largest, of which the sum is 1 where that is
    asked for; 0 elsewhere."""
    router = body.input(1)
    every = body.step("Softmax", router, axis=-1)
    _, places = body.several("TopK", [router, body.whole(body.attribute("k", 1))], 2, axis=-1)
    chosen = body.step("GatherElements", every, places, axis=-1)
    if body.attribute("normalize_routing_weights", 0):
        chosen = body.step("Div", chosen, body.unsqueeze(body.total(chosen, 1), 1))
    none = body.step("Expand", body.number(0, every), body.step("Shape", every))
    return body.step("ScatterElements", none, places, chosen, axis=1)


def _layer(body: Body, value: str, at: int) -> str:
    """(experts, tokens, size): by the weights at that input and the bias behind them."""
    product = body.step("MatMul", value, body.step("Transpose", body.input(at), perm=[0, 2, 1]))
    bias = body.input(at + 1)
    return body.step("Add", product, body.unsqueeze(bias, 1)) if bias else product


def _activated(body: Body, first: str, tokens: str) -> str:
    kind = body.attribute("activation_type", "relu")
    if kind == _GATED:
        return _gated(body, first, tokens)
    if body.input(6):
        raise Unknown
    if kind == "silu":
        return body.step("Mul", first, body.step("Sigmoid", first))
    if kind == "gelu":
        return fast_gelu(body, first)
    if kind in ("relu", "identity"):
        return body.step("Relu", first) if kind == "relu" else first
    raise Unknown


def _gated(body: Body, first: str, tokens: str) -> str:
    """G sigmoid(alpha G) (L + beta), G and L clamped: of two layers, or of one whose results are interleaved or in two halves."""
    gate, linear = _halves(body, first, tokens)
    limit = body.attribute("swiglu_limit")
    if limit is not None:
        gate = body.step("Min", gate, body.number(limit, gate))
        linear = body.step("Max", body.step("Min", linear, body.number(limit, gate)), body.number(-limit, gate))
    slope = body.times(gate, float(body.attribute("activation_alpha", 1.0)))
    beta = float(body.attribute("activation_beta", 0.0))
    linear = body.step("Add", linear, body.number(beta, gate)) if beta else linear
    return body.step("Mul", body.step("Mul", gate, body.step("Sigmoid", slope)), linear)


def _halves(body: Body, first: str, tokens: str) -> tuple[str, str]:
    fused = body.attribute("swiglu_fusion", 0)
    if fused == 0:
        if not body.input(6):
            raise Unknown
        return first, _layer(body, tokens, 6)
    half = body.size(body.input(2), 1) // 2
    if fused == 2:
        halves = body.parts(first, [half, half], 2)
        return halves[0], halves[1]
    ends, axis = body.whole(2 * half), body.whole(2)
    every_other = [body.step("Slice", first, body.whole(start), ends, axis, body.whole(2)) for start in (0, 1)]
    return every_other[0], every_other[1]


def _experts_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, weights = inputs[0].shape, inputs[2].shape
    if shape is None:
        return [UNKNOWN]
    if weights is not None and len(weights) == 3:
        equal(shape[-1], weights[2], ConstraintCode.TOKEN_SIZES)
    return plain(shape)


OPERATORS: tuple[OnnxOperator, ...] = (*alike("MoE", domain=MICROSOFT, decomposition=_experts, shape=_experts_shape),)

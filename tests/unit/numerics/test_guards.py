"""What counts as a guard of an operator that has no number for every value."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from assay.numerics.guards import guards_of, without
from assay.numerics.oracle.evaluator import Evaluator

GUARDED = {
    "lower end": "<float low={0.5}> { s = Mul(x, x) c = Clip(s, low) y = Log(c) }",
    "norm": "<float e={0.5}, int64[1] last={1}> { n = ReduceL2(x, last) d = Add(n, e) y = Div(x, d) }",
    "expanded": "<float e={0.5}, int64[1] last={1}> { n = ReduceL2(x, last) c = Clip(n, e) s = Shape(x) d = Expand(c, s) y = Div(x, d) }",
    "root": "<float zero={0}> { m = Max(zero, x) y = Sqrt(m) }",
    "rectified": "{ m = Relu(x) y = Sqrt(m) }",
    "root of a sum": "<float e={0.5}> { s = Mul(x, x) a = Add(e, s) r = Sqrt(a) y = Div(x, r) }",
    "power": "<float e={0.5}, float p={-0.5}> { s = Mul(x, x) a = Add(s, e) y = Pow(a, p) }",
    "sum": "<float e={0.5}> { s = Mul(x, x) a = Sum(e, s) y = Log(a) }",
    "subtracted": "<float e={-0.5}> { s = Relu(x) a = Sub(s, e) y = Div(x, a) }",
    "for each channel": "<float[4] e={1e-6, 1e-6, 1e-6, 1e-6}> { s = Relu(x) q = Mul(s, s) a = Add(q, e) y = Log(a) }",
    "whole power": "<float e={0.5}, float p={-1}> { s = Abs(x) r = Relu(x) a = Add(r, e) d = Pow(a, p) y = Mul(s, d) }",
    "chosen before": "<float e={0}, float one={1}> { s = Relu(x) z = Equal(s, e) d = Where(z, one, s) y = Div(x, d) }",
    "chosen the other way": "<float e={0}, float one={1}> { s = Mul(x, x) z = Greater(s, e) d = Where(z, s, one) y = Log(d) }",
    "chosen behind": "<float e={0}> { s = Mul(x, x) d = Div(x, s) z = LessOrEqual(s, e) y = Where(z, e, d) }",
    "chosen farther behind": "<float e={0}, float b={2}> { s = Mul(x, x) d = Log(s) a = Add(d, b) z = Equal(s, e) y = Where(z, e, a) }",
    "normalization": "<float[4] w={1, 1, 1, 1}> { y = LayerNormalization(x, w) }",
}
PLAIN = {
    "no domain": "<float e={0.5}> { a = Add(x, e) y = Exp(a) }",
    "no guard": "{ y = Sqrt(x) }",
    "a dividend": "<float e={0.5}> { a = Relu(x) y = Div(a, e) }",
    "weights": "<float[4] w={1, 1, 1, 1}> { a = Add(x, w) y = Log(a) }",
    "a rising power": "<float e={0.5}, float p={3}> { r = Relu(x) a = Add(r, e) y = Pow(a, p) }",
    "a loss": "<float e={0.5}> { s = Mul(x, x) a = Sub(s, e) y = Log(a) }",
    "below zero": "<float low={-1}> { a = Add(x, low) y = Log(a) }",
    "two operands": "{ a = Relu(x) b = Mul(a, x) y = Sqrt(b) }",
    "a choice between two": "{ r = Mul(x, x) d = Div(x, r) z = Equal(x, r) y = Where(z, x, d) }",
    "a choice of anything": "<float e={0}> { r = Relu(x) z = Equal(x, r) y = Where(z, e, r) }",
    "a choice that is known": "<bool[4] z={1, 0, 1, 0}, float e={0}> { d = Log(x) y = Where(z, e, d) }",
    "stored variance": "<float[4] w={1, 1, 1, 1}> { y = BatchNormalization(x, w, w, w, w) }",
}


def _model(body: str) -> ModelProto:
    model: ModelProto = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 18]> g (float[2, 4] x) => (float[2, 4] y) {body}'
    )
    return model


@pytest.mark.parametrize("kind", GUARDED)
def test_without_its_guards_a_model_has_no_number_for_zero_or_below(kind: str) -> None:
    model = _model(GUARDED[kind])
    guards = guards_of(model)
    assert len(guards) == 1
    fed = {"x": np.array([[0, 0, 0, 0], [-1, -1, -1, -1]], np.float32)}
    with np.errstate(all="ignore"):
        (guarded,), (bare,) = (Evaluator(each).evaluate(fed) for each in (model, without(model, guards)))
    assert np.isfinite(guarded).all()
    assert not np.isfinite(bare).all()


@pytest.mark.parametrize("kind", PLAIN)
def test_nothing_is_guarded(kind: str) -> None:
    assert guards_of(_model(PLAIN[kind])) == {}

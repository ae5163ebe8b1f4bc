"""A part of a model as a model of its own: what branches and bodies read from outside comes with it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from assay.models.expose_intermediates import part, reads_of
from assay.numerics.oracle.evaluator import Evaluator

BRANCHES = """g (float[4] x, bool c) => (float[4] y) {
    h = Tanh(x)
    y = If(c) <
        then_branch = a () => (float[4] p) { q = Add(h, w) r = Exp(q) p = Neg(r) },
        else_branch = b () => (float[4] s) { s = If(c) <
            then_branch = d () => (float[4] t) { t = Sin(h) },
            else_branch = e () => (float[4] u) { u = Mul(x, x) }
        > }
    >
}"""
LOOP = """g (float[4] x) => (float[4] y) {
    h = Tanh(x)
    trips = Constant<value_int = 3>()
    go = Constant<value = bool {1}>()
    y = Loop(trips, go, x) <body = l (int64 i, bool c, float[4] s) => (bool more, float[4] t) {
        more = Identity(c)
        k = Add(s, h)
        t = Mul(k, w)
    }>
}"""


def _model(text: str) -> onnx.ModelProto:
    model: onnx.ModelProto = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{text}')
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.full(4, 2.0, np.float32), "w"))
    return model


@pytest.mark.parametrize(
    ("text", "reads"), [(BRANCHES, ["c", "h", "w", "c", "h", "x"]), (LOOP, ["trips", "go", "x", "h", "w"])]
)
def test_a_node_with_bodies_is_a_part_that_can_be_run(text: str, reads: list[str]) -> None:
    model = _model(text)
    node = model.graph.node[-1]
    assert list(reads_of(node)) == reads
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    values = {"x": x, "h": np.tanh(x), "c": np.array(False), "trips": np.array(3), "go": np.array(True)}
    (whole,) = Evaluator(model).evaluate({name: values[name] for name in (value.name for value in model.graph.input)})
    alone = part(model, [node], {**values, "y": whole})
    assert [tensor.name for tensor in alone.graph.initializer] == ["w"]
    given = {value.name: values[value.name] for value in alone.graph.input}
    (answer,) = Evaluator(alone).evaluate(given)
    np.testing.assert_array_equal(answer, whole)


def test_what_a_body_reads_is_an_output_of_the_part_before_it() -> None:
    model = _model(BRANCHES)
    x = np.ones(4, np.float32)
    first = part(model, [model.graph.node[0]], {"x": x, "h": x})
    assert [value.name for value in first.graph.output] == ["h"]

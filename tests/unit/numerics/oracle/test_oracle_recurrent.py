"""Recurrent operators: what is computed for several steps at once is what each step gives by itself."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.kernels.recurrent import Squares
from assay.ports import Tensor


def _noise(*shape: int) -> Tensor:
    return np.asarray(np.random.default_rng(sum(shape)).normal(size=shape))


def test_squares_of_all_steps_are_those_of_each_with_the_matrices_of_its_direction() -> None:
    forward, backward = (_noise(4, 6), _noise(3, 6)), (_noise(5, 5)[:4, :1] * np.ones(6), _noise(3, 7)[:, :6])
    each = [
        Squares((_noise(2, 4) + step, _noise(2, 3) - step), lambda step=step: forward if step < 5 else backward)  # type: ignore[misc]
        for step in range(8)
    ]
    np.testing.assert_allclose(Squares.of_all(each), np.stack([factor() for factor in each]), rtol=1e-13)


@pytest.mark.parametrize(("operator", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("linear", [0, 1])
def test_inputs_of_several_steps_at_once_change_nothing(
    monkeypatch: pytest.MonkeyPatch, operator: str, gates: int, linear: int
) -> None:
    weights = {"w": _noise(2, gates * 3, 4), "r": _noise(2, gates * 3, 3), "b": _noise(2, gates * 6)}
    more = {"linear_before_reset": linear} if operator == "GRU" else {}
    node = helper.make_node(operator, ["x", *weights], ["y"], hidden_size=3, direction="bidirectional", **more)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [5, 2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert isinstance(model, onnx.ModelProto)
    answers = []
    for ahead in (1, 2 * 2 * gates * 3, 1 << 22):
        monkeypatch.setattr("assay.numerics.oracle.kernels.recurrent.AHEAD", ahead)
        answers.append(Evaluator(model).evaluate({"x": _noise(5, 2, 4)})[0])
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-12)
    np.testing.assert_allclose(answers[2], answers[0], rtol=1e-12)

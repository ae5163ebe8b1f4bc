"""Single operators whose right answers were called wrong: what rounds there, and what does not."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper
from small_graphs import budget, float32, noise, parsed

from assay.numerics.oracle.decompose import expanded
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.simulate.graph_study import study
from assay.ports import Tensor

LOSS = 'g (float[3, 5] x, int64[3] t) => (float[3] y) { z = Log(x)\n y = NegativeLogLikelihoodLoss<reduction="none">(z, t) }'
BOTH = 'g (float[3, 5] x, int64[3] t) => (float[3] y, float[3, 5] z) { y, z = SoftmaxCrossEntropyLoss<reduction="none">(x, t) }'


def test_what_the_body_of_a_function_only_moves_is_not_exact() -> None:
    """Names of its body say nothing about what was computed before it."""
    model = parsed(LOSS)
    deriving = Deriving(model, arithmetic_of("float32", ()), 0, study(model))
    feeds = {"x": abs(noise(3, 5)), "t": np.array([4, 0, 1])}
    (output,) = deriving.profile(deriving.samples([feeds]), "float32").header.outputs
    assert output.kind == "real"
    assert output.storage > 0.0


def test_operators_that_are_made_of_others_are_taken_apart_to_the_end() -> None:
    assert not {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"} & {
        node.op_type for node in expanded(parsed(BOTH)).graph.node
    }


def test_an_operator_with_stored_inputs_is_taken_apart_too() -> None:
    """Rotary positions come from tables that are stored in the model."""
    model = parsed(
        "g (float[1, 2, 3, 8] x, int64[1, 3] at) => (float[1, 2, 3, 8] y) { y = RotaryEmbedding(x, c, s, at) }", 23
    )
    model.graph.initializer.extend(numpy_helper.from_array(noise(5, 4, seed=at), name) for at, name in enumerate("cs"))
    assert "RotaryEmbedding" not in {node.op_type for node in expanded(model).graph.node}
    profile = derive_model(model, [{"x": noise(1, 2, 3, 8), "at": np.array([[0, 4, 2]])}], "float32")
    assert not profile.header.without_rule


def test_a_loss_for_each_row_is_rounded() -> None:
    model = parsed(BOTH)
    feeds = {"x": noise(3, 5), "t": np.array([4, 0, 1])}
    right = float32(model, feeds)
    right["y"] = np.nextafter(right["y"], np.float32(9))
    assert 0.0 < budget(derive_model(model, [feeds], "float32"), right) < 1.0


@pytest.mark.parametrize("operator", ["HardSigmoid<alpha = 0.2, beta = 0.5>", "HardSwish"])
def test_a_hard_sigmoid_cancels_near_its_foot(operator: str) -> None:
    """A unit in the last place of 0.5 is many of what is left."""
    model = parsed(f"g (float[64] x) => (float[64] y) {{ y = {operator}(x) }}")
    alpha = np.float32(0.2 if "Sigmoid" in operator else 1 / 6)
    x = (np.float32(-0.5) / alpha * (1 - np.geomspace(1e-5, 1e-2, 64))).astype(np.float32)
    right: Tensor = np.clip(x * alpha + np.float32(0.5), 0, 1).astype(np.float32)
    right = right if "Sigmoid" in operator else x * right
    profile = derive_model(model, [{"x": x}], "float32")
    assert budget(profile, {"y": right}) < 1.0
    assert budget(profile, {"y": right * np.float32(1.01)}) > 1.0


def test_beyond_its_ramp_a_hard_sigmoid_is_exact() -> None:
    model = parsed("g (float[4] x) => (float[4] y) { y = HardSigmoid<alpha = 0.2, beta = 0.5>(x) }")
    profile = derive_model(model, [{"x": np.array([-9.3, -2.7, 0.3, 0.7], np.float32)}], "float32")
    assert (profile.deviation[0]["y"][:2] == 0).all()
    assert (profile.deviation[0]["y"][2:] > 0).all()


@pytest.mark.parametrize("near", [1.0, 1e-4])
def test_a_determinant_is_as_wide_as_its_matrix_is_near_to_a_singular_one(near: float) -> None:
    model = parsed("g (float[3, 4, 4] x) => (float[3] y) { y = Det(x) }")
    x = noise(3, 4, 4)
    x[:, 3] = x[:, 2] + np.float32(near) * x[:, 3]
    profile = derive_model(model, [{"x": x}], "float32")
    assert not profile.header.without_rule
    right = np.array([_eliminated(matrix) for matrix in x], np.float32)
    assert budget(profile, {"y": right}) < 1.0
    assert budget(profile, {"y": right * np.float32(1 + 3e-4 / near)}) > 1.0


def _eliminated(matrix: Tensor) -> np.float32:
    """In single precision, step by step, with pivots."""
    a, determinant = matrix.copy(), np.float32(1)
    for at in range(len(a)):
        pivot = at + int(np.argmax(np.abs(a[at:, at])))
        a[[at, pivot]] = a[[pivot, at]]
        determinant = determinant * a[at, at] * np.float32(1 if pivot == at else -1)
        for row in range(at + 1, len(a)):
            a[row] = a[row] - (a[row, at] / a[at, at]) * a[at]
    return np.float32(determinant)


def test_a_singular_matrix_has_a_determinant_near_zero() -> None:
    model = parsed("g () => (float y) { x = Identity(w)\n y = Det(x) }")
    model.graph.initializer.append(numpy_helper.from_array(np.array([[0.1, 0.3], [0.2, 0.6]], np.float32), "w"))
    profile = derive_model(model, [{}], "float32")
    assert budget(profile, {"y": np.array(1e-8, np.float32)}) < 1.0
    assert budget(profile, {"y": np.array(1e-5, np.float32)}) > 1.0


def test_the_scale_of_a_dynamic_grid_is_rounded() -> None:
    model = parsed("g (float[3, 4] x) => (uint8[3, 4] q, float s, uint8 z) { q, s, z = DynamicQuantizeLinear(x) }")
    feeds = {"x": noise(3, 4)}
    profile = derive_model(model, [feeds], "float32")
    right = float32(model, feeds)
    width = np.maximum(feeds["x"].max(), 0) - np.minimum(feeds["x"].min(), 0)
    assert budget(profile, {**right, "s": np.asarray(width * np.float32(1 / 255))}) < 1.0
    assert budget(profile, {**right, "s": np.nextafter(right["s"], np.float32(9))}) < 1.0
    assert budget(profile, {**right, "s": right["s"] * np.float32(1 + 1e-5)}) > 1.0

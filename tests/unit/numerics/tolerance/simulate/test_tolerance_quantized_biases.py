"""Biases in float between quantized operands: kernels in whole numbers round them to the grid of the products."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.ports import Tensor

CASES = {
    "one scale": np.float32(0.01),
    "a scale for each channel": np.linspace(0.004, 0.02, 8, dtype=np.float32),
}
BIAS = np.random.default_rng(5).normal(0, 0.1, 8).astype(np.float32)


def _model(scale: Tensor, bias: Tensor, *, steps: bool) -> onnx.ModelProto:
    """A convolution between grids, its answer on a grid again or not (`steps`)."""
    tail = "r = QuantizeLinear(c, s, z)  y = DequantizeLinear(r, s, z)" if steps else "y = Identity(c)"
    model: onnx.ModelProto = parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float[1, 3, 32, 32] x) => (float[1, 8, 32, 32] y) {{
          q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  k = DequantizeLinear <axis = 0> (w, t, n)
          c = Conv <pads = [1, 1, 1, 1]> (d, k, b)  {tail} }}""")
    drawn = np.random.default_rng(0)
    stored = {
        "s": np.float32(0.02), "z": np.uint8(120), "t": scale, "n": np.zeros_like(scale, np.int8),
        "w": drawn.integers(-60, 60, (8, 3, 3, 3)).astype(np.int8), "b": bias,
    }  # fmt: skip
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items())
    return model


def _inputs() -> dict[str, Tensor]:
    """On the grid, as pixels are: no value is near a tie, where engines may differ anyway."""
    return {"x": np.random.default_rng(1).integers(-100, 100, (1, 3, 32, 32)).astype(np.float32) * np.float32(0.02)}


def _profile(scale: Tensor, *, steps: bool) -> DerivedTolerance:
    return derive_model(_model(scale, BIAS, steps=steps), [_inputs()], "float32")


def _judged(profile: DerivedTolerance, answer: Any) -> OutputJudgement:
    return judge_outputs([{"y": np.asarray(answer)}], None, profile)["y"]


@pytest.mark.parametrize("scale", CASES.values(), ids=CASES)
@pytest.mark.parametrize("steps", [True, False], ids=["on a grid again", "in float"])
def test_an_engine_that_rounds_the_bias_to_the_grid_of_the_products_is_right(scale: Tensor, steps: bool) -> None:
    profile = _profile(scale, steps=steps)
    grid = np.float32(0.02) * scale
    rounded = (np.rint(BIAS / grid) * grid).astype(np.float32)
    for bias, right in ((BIAS, True), (rounded, True), (rounded + 8 * grid, False), (np.zeros_like(BIAS), False)):
        (y,) = Evaluator(_model(scale, bias, steps=steps)).evaluate(_inputs())
        used = _judged(profile, y).metrics["budget_used"]
        assert (used <= 1.0) == right, (used, right)


@pytest.mark.parametrize("scale", CASES.values(), ids=CASES)
def test_onnx_runtime_which_rounds_it_is_right(scale: Tensor) -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = _model(scale, BIAS, steps=True).SerializeToString()
    answers = [
        runtime.InferenceSession(
            model, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
        ).run(None, _inputs())[0]
        for disabled in ([], ["WeightBiasQuantization"])
    ]  # fmt: skip
    assert not np.array_equal(*answers), "nothing is rounded: the test would prove nothing"
    profile = _profile(scale, steps=True)
    assert not [finding for answer in answers for finding in _judged(profile, answer).findings]

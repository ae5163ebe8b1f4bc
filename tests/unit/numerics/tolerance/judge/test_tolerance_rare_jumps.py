"""A gate that saturates turns or does not: a right engine turns one that no draw has turned, and is not called wrong for it."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.rare_jumps import rare_jumps
from assay.ports import Tensor


def _gates(seed: int) -> tuple[DerivedTolerance, Tensor]:
    """512 gates behind a product, their tolerance where its weights lie on a grid of eight bits, and the answer of such an engine."""
    random = np.random.default_rng(seed)
    w, x = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 512), (1, 64)))
    text = "g (float[1, 64] x) => (float[1, 512] y) { h = MatMul(x, w)\n s = Mul(h, k)\n y = Tanh(s) }"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    model.graph.initializer.extend([numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.float32(1e4), "k")])
    step = np.abs(w).max(0) / 127
    answer = np.tanh(1e4 * (x @ (np.rint(w / step) * step))).astype(np.float32)
    return derive_model(model, [{"x": x}], "int8", allowances=("int8-weights",)), answer


@pytest.mark.parametrize("seed", [3, 10])
def test_a_right_engine_that_turns_another_gate_is_not_wrong(seed: int) -> None:
    profile, answer = _gates(seed)
    judged = judge_outputs([{"y": answer}], None, profile)["y"]
    assert judged.metrics["budget_element"] > 1.0
    assert not judged.findings
    assert judged.metrics["budget_used"] <= 1.0
    assert "comes as jumps" in finding_text(judged.degenerate)


def test_more_than_gates_may_turn_and_numbers_that_no_gate_gives_are_wrong() -> None:
    profile, answer = _gates(5)
    turned, beyond = answer.copy(), answer.copy()
    turned[0, :12] *= -1
    beyond[0, 0] = 50.0
    for wrong in (turned, beyond):
        judged = judge_outputs([{"y": wrong}], None, profile)["y"]
        assert judged.findings
        assert judged.metrics["budget_used"] > 1.0


def test_noise_that_is_spread_as_the_values_are_tells_of_each_element() -> None:
    random = np.random.default_rng(0)
    values, spread = random.standard_normal(256), np.full(256, 1e-4)
    few = np.zeros(256)
    few[:3] = 1.0
    error = np.zeros(256)
    error[9] = 2.0
    assert rare_jumps("y", [error], [few], [values], 8)
    assert not rare_jumps("y", [error], [spread], [values], 8)
    assert not rare_jumps("y", [2 * error], [few], [values], 8)  # further than a draw may have moved one
    assert not rare_jumps("y", [error], [few], [few], 8)  # no other element has any value

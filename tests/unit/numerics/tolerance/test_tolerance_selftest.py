"""A tolerance is tried on defects of its own model before it is trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_graphs import float32, network, noise, parsed

from assay.numerics.tolerance import rules
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge import judge
from assay.ports import Tensor


def test_what_sees_no_defect_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = network()
    sound = derive_model(model, [feeds], "float32")
    assert not sound.header.blind
    assert not judge([float32(model, feeds)], None, sound)["y"].degenerate
    # A noise rule that is wrong by ten orders of magnitude.
    monkeypatch.setitem(rules.RULES, "MatMul", lambda site, unit: np.full(site.value.shape, 1e6))
    wrong = derive_model(model, [feeds], "float32")
    assert wrong.header.blind == {"y"}
    (judged,) = judge([float32(model, feeds)], None, wrong).values()
    assert judged.metrics["budget_used"] < 1
    assert judged.degenerate
    assert "none of the defects" in judged.degenerate or "ill-conditioned" in judged.degenerate


WEIGHTLESS = {
    "LayerNormalization": "g (float[3, 64] x) => (float[3, 64] y) { y = LayerNormalization(x, s) }",
    "Softmax": "g (float[3, 64] x) => (float[3, 64] y) { y = Softmax(x) }",
    "Exp": "g (float[3, 64] x) => (float[3, 64] y) { y = Exp(x) }",
}


def _weightless(operator: str) -> onnx.ModelProto:
    model = parsed(WEIGHTLESS[operator])
    if operator == "LayerNormalization":
        model.graph.initializer.append(numpy_helper.from_array(np.ones(64, np.float32), "s"))
    return model


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16", "float16"])
@pytest.mark.parametrize("operator", WEIGHTLESS)
def test_a_model_without_weights_is_tried_on_defects_too(operator: str, precision: str) -> None:
    profile = derive_model(_weightless(operator), [{"x": noise(3, 64)}], precision)
    tried = profile.header.selftest
    assert {one.mutant.partition(" at ")[0].split(" by ")[0] for one in tried} >= {"scaled", "shifted"}
    assert all(one.killed for one in tried), tried


@pytest.mark.parametrize("operator", WEIGHTLESS)
def test_a_rule_that_is_blind_to_a_model_without_weights_is_found_out(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(site: Any, unit: Any) -> Tensor:
        return np.full(np.shape(site.value), 1e6)

    for table in (rules.RULES, rules.INNER):
        for name in list(table):
            monkeypatch.setitem(table, name, blind)
    profile = derive_model(_weightless(operator), [{"x": noise(3, 64)}], "bfloat16")
    assert profile.header.blind == {"y"}

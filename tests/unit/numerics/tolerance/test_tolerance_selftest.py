"""A tolerance is tried on defects of its own model before it is trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_graphs import float32, network, noise, parsed

from assay.core.defect import DefectKind
from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.rules import noise_rules
from assay.ports import Tensor


def test_what_sees_no_defect_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = network()
    sound = derive_model(model, [feeds], "float32")
    assert not sound.header.blind
    assert not judge_outputs([float32(model, feeds)], None, sound)["y"].degenerate
    # A noise rule that is wrong by ten orders of magnitude.
    monkeypatch.setitem(noise_rules.RULES, "MatMul", lambda site, unit: np.full(site.value.shape, 1e6))
    wrong = derive_model(model, [feeds], "float32")
    assert wrong.header.blind == {"y"}
    right = float32(model, feeds)["y"]
    (judged,) = judge_outputs([{"y": right * np.float32(1.0001)}], None, wrong).values()
    assert judged.metrics["budget_used"] < 1
    assert "none of the defects" in finding_text(judged.degenerate) or "ill-conditioned" in finding_text(
        judged.degenerate
    )
    (judged,) = judge_outputs([{"y": right}], None, wrong).values()
    assert not judged.degenerate, "an answer so near hides no defect, whatever is allowed"


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
    assert {attempt.defect.kind.value for attempt in tried} >= {"scaled", "shifted"}
    assert all(attempt.killed for attempt in tried), tried


@pytest.mark.parametrize("operator", WEIGHTLESS)
def test_a_rule_that_is_blind_to_a_model_without_weights_is_found_out(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(site: Any, unit: Any) -> Tensor:
        return np.full(np.shape(site.value), 1e6)

    for table in (noise_rules.RULES, noise_rules.INNER):
        for name in list(table):
            monkeypatch.setitem(table, name, blind)
    profile = derive_model(_weightless(operator), [{"x": noise(3, 64)}], "bfloat16")
    assert profile.header.blind == {"y"}


def test_an_output_at_which_what_is_far_from_it_averages_out_is_tried_itself() -> None:
    model = parsed(
        """g (float[1, 16384] x) => (float[1, 4] y, float[1, 1] l)
        { y = MatMul(x, w)\n axis = Constant<value_ints = [1]>()\n l = ReduceL2(x, axis) }"""
    )
    model.graph.initializer.append(numpy_helper.from_array(noise(16384, 4), "w"))
    header = derive_model(model, [{"x": noise(1, 16384)}], "float32").header
    missed = [attempt.defect.kind for attempt in header.selftest if "l" in attempt.missed]
    seen = [attempt.defect.kind for attempt in header.selftest if "l" in attempt.seen]
    assert DefectKind.ROUNDED in missed
    assert DefectKind.SCALED in seen
    assert not header.blind


LOOP = """<ir_version: 10, opset_import: ["" : 21]> g (float[1, 8] x) => (float[1, 8] y)
{
  n = Constant<value_int = 20>()
  go = Constant<value_ints = [1]>()
  one = Cast<to = 9>(go)
  yes = Squeeze(one)
  y = Loop(n, yes, x)<body = b (int64 i, bool c, float[1, 8] h) => (bool d, float[1, 8] o)
    { d = Identity(c)\n m = MatMul(h, w)\n a = Add(m, bias)\n o = Tanh(a) }>
}"""


def test_weights_of_the_body_of_a_loop_are_rounded_too() -> None:
    model = onnx.parser.parse_model(LOOP)
    model.graph.initializer.extend(
        numpy_helper.from_array(value.astype(np.float32), name)
        for name, value in (("w", noise(8, 8) * 0.2), ("bias", noise(8)))
    )
    header = derive_model(model, [{"x": noise(1, 8)}], "float32").header
    assert not header.blind
    assert [attempt.killed for attempt in header.selftest if attempt.defect.kind is DefectKind.ROUNDED] == [True]

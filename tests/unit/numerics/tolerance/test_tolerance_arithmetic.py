"""What a flow promises and a model declares: types, rules of operators, and what is refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from small_graphs import budget, noise, parsed

from assay.errors import Lowering, UsageError
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.rules import noise_rules


def test_an_operator_without_a_rule_is_listed_and_a_plug_in_may_bring_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model = parsed(
        "g (float[1, 1, 4, 4] x, float[1, 4] rois, int64[1] of) => (float[1, 1, 1, 1] y) { y = RoiAlign(x, rois, of) }"
    )
    feeds = {"x": noise(1, 1, 4, 4), "rois": np.array([[0, 0, 3, 3]], np.float32), "of": np.zeros(1, np.int64)}
    monkeypatch.delitem(noise_rules.RULES, "RoiAlign")
    assert derive_model(model, [feeds], "float32").header.without_rule == ("RoiAlign",)
    monkeypatch.setattr(noise_rules, "_loaded", {"RoiAlign": noise_rules.rounding})
    assert derive_model(model, [feeds], "float32").header.without_rule == ()


def test_what_cannot_be_evaluated_in_double_is_refused_with_its_reason() -> None:
    node = onnx.helper.make_node("Mystery", ["x"], ["y"], domain="their.own")
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("their.own", 1)]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y]), opset_imports=opsets)
    with pytest.raises(Lowering, match="Mystery"):
        derive_model(model, [{"x": noise(1)}], "float32")


@pytest.mark.parametrize("precision", ["int8", "float17"])
def test_a_precision_without_arithmetic_is_refused(precision: str) -> None:
    with pytest.raises(UsageError, match=precision):
        arithmetic_of(precision)


def test_an_unknown_allowance_is_refused() -> None:
    with pytest.raises(UsageError, match="winograd"):
        arithmetic_of("float32", ("wino",))


def test_a_model_in_double_is_held_to_double_unless_the_flow_says_otherwise() -> None:
    model = parsed("g (double[8, 16] x, double[16, 8] w) => (double[8, 8] y) { y = MatMul(x, w) }")
    feeds = {"x": noise(8, 16).astype(np.float64), "w": noise(16, 8).astype(np.float64)}
    narrow = {"y": (feeds["x"].astype(np.float32) @ feeds["w"].astype(np.float32)).astype(np.float64)}
    profile = derive_model(model, [feeds], "float32")
    assert profile.header.precision == "float64"
    assert budget(profile, {"y": feeds["x"] @ feeds["w"]}) < 1
    assert budget(profile, narrow) > 1000
    declared = derive_model(model, [feeds], "float32", allowances=("double-in-float32",))
    assert budget(declared, narrow) < 1


MIXED = """
g (float[8, 16] x, float[16, 8] w) => (double[8, 8] y, float[8, 8] z) {
  a = Cast<to=11>(x)
  b = Cast<to=11>(w)
  h = MatMul(a, b)
  y = Tanh(h)
  n = Cast<to=1>(h)
  z = Tanh(n)
}
"""


def test_an_output_in_double_of_a_mixed_model_is_held_to_double_and_the_others_are_not() -> None:
    model, feeds = parsed(MIXED), {"x": noise(8, 16), "w": noise(16, 8)}
    wide = {name: value.astype(np.float64) for name, value in feeds.items()}
    narrow = {"y": np.tanh(feeds["x"] @ feeds["w"]), "z": np.tanh(feeds["x"] @ feeds["w"])}
    backwards = wide["x"][:, ::-1] @ wide["w"][::-1]
    right = {"y": np.tanh(backwards), "z": np.tanh(backwards.astype(np.float32))}
    wrong = {**right, "y": narrow["y"].astype(np.float64)}
    profile = derive_model(model, [feeds], "float32")
    used = {name: output.metrics["budget_used"] for name, output in judge_outputs([right], None, profile).items()}
    # Neither is given away: what is allowed is used to some part.
    assert 1e-3 < used["y"] < 1
    assert 1e-3 < used["z"] < 1
    used = {name: output.metrics["budget_used"] for name, output in judge_outputs([wrong], None, profile).items()}
    assert used["y"] > 1e5
    assert used["z"] < 1
    declared = derive_model(model, [feeds], "float32", allowances=("double-in-float32",))
    assert judge_outputs([wrong], None, declared)["y"].metrics["budget_used"] < 1


def test_a_value_that_leaves_double_in_the_middle_is_rounded_there() -> None:
    """Without the noise of the cast, float32 behind it would be held to double."""
    model = parsed(
        """
        g (float[64] x, double[64] d) => (float[64] z, double[64] e) {
          a = Cast<to=11>(x)
          h = Mul(a, d)
          n = Cast<to=1>(h)
          z = Identity(n)
          w = Cast<to=11>(n)
          e = Mul(w, d)
        }
        """
    )
    feeds = {"x": noise(64), "d": noise(64, seed=3).astype(np.float64)}
    narrow = (feeds["x"] * feeds["d"]).astype(np.float32)
    right = {"z": narrow, "e": narrow * feeds["d"]}
    profile = derive_model(model, [feeds], "float32")
    used = {name: output.metrics["budget_used"] for name, output in judge_outputs([right], None, profile).items()}
    assert used["z"] < 1
    assert 1e-2 < used["e"] < 1

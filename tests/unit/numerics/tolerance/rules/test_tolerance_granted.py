"""What Vulkan grants its elementary functions: an error of that size passes where the flow declares it, one beyond it never does."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor

VULKAN = ("vulkan-functions",)
ULP = 2.0**-23


def parsed(text: str) -> ModelProto:
    model: ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    return model


def noise(*shape: int, seed: int = 0) -> Tensor:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def budget(profile: DerivedTolerance, outputs: dict[str, Tensor]) -> float:
    return max(output.metrics["budget_used"] for output in judge_outputs([outputs], None, profile).values())


def _budgets(operator: str, error: float) -> tuple[float, float]:
    """Of an engine whose function is off by this share of its result, with and without the allowance."""
    model = parsed(f"g (float[256] x) => (float[256] y) {{ y = {operator}(x) }}")
    x = np.abs(noise(256)) / 4 + np.float32(1)
    profiles = [derive_model(model, [{"x": x}], "float32", allowances=allowances) for allowances in (VULKAN, ())]
    exact = {"Atan": np.arctan, "Exp": np.exp, "Sin": np.sin, "Reciprocal": np.reciprocal}[operator](x.astype(float))
    off = np.asarray(exact * (1 + error), np.float32)
    granted, plain = (budget(profile, {"y": off}) for profile in profiles)
    return granted, plain


@pytest.mark.parametrize(
    ("operator", "granted", "beyond"),
    [
        ("Atan", 2000 * ULP, 0.01),
        ("Exp", 6 * ULP, 60 * ULP),
        ("Sin", 2.0**-12, 0.02),
        ("Reciprocal", 2.4 * ULP, 30 * ULP),
    ],
)
def test_what_is_granted_passes_and_what_is_not_does_not(operator: str, granted: float, beyond: float) -> None:
    inside, outside = _budgets(operator, granted), _budgets(operator, beyond)
    assert inside[0] < 1 < inside[1], operator
    assert outside[0] > 1, operator


def test_a_place_inside_of_an_operator_is_granted_its_function_too() -> None:
    model = parsed("g (float[8, 64] x) => (float[8, 64] y) { y = Softmax(x) }")
    feeds = {"x": noise(8, 64) * 4}
    shifted = feeds["x"].astype(float) - feeds["x"].max(-1, keepdims=True)
    powers = np.exp(shifted) * (1 + np.sign(np.sin(37 * shifted)) * 2.5 * (3 + 2 * np.abs(shifted)) * ULP)
    off = {"y": (powers / powers.sum(-1, keepdims=True)).astype(np.float32)}
    granted, plain = (budget(derive_model(model, [feeds], "float32", allowances=each), off) for each in (VULKAN, ()))
    assert granted < 1 < plain


def test_an_operator_without_a_function_is_judged_as_before() -> None:
    model = parsed("g (float[256] x) => (float[256] y) { y = Add(x, x) }")
    x = noise(256) * 3 + np.float32(0.1)
    off = {"y": (x + x).astype(np.float32) * np.float32(1 + 2.0**-20)}
    granted, plain = (budget(derive_model(model, [{"x": x}], "float32", allowances=each), off) for each in (VULKAN, ()))
    assert granted == plain > 1


def test_a_power_inherits_from_both_of_its_functions() -> None:
    model = parsed("g (float[256] x, float[256] e) => (float[256] y) { y = Pow(x, e) }")
    feeds = {"x": np.abs(noise(256)) * 9 + np.float32(2), "e": np.abs(noise(256, seed=1)) * np.float32(4)}
    exact = feeds["x"].astype(float) ** feeds["e"].astype(float)
    relative = (3 + 5 * np.abs(feeds["e"] * np.log2(feeds["x"]))) * ULP
    off = {"y": (exact * (1 + np.sign(np.sin(37 * feeds["x"])) * relative)).astype(np.float32)}
    granted, plain = (budget(derive_model(model, [feeds], "float32", allowances=each), off) for each in (VULKAN, ()))
    assert granted < 1 < plain

"""Infinities in a model: a mask's stay as they are in every type, and noise that leaves no number is told."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_graphs import budget, float32, noise, parsed

from assay.core.note import NoteCode, noted
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.simulate.spread import Spread, Unstable


def masked(outside: float) -> onnx.ModelProto:
    model = parsed("g (float[6, 6] x) => (float[6, 6] y) { m = Add(x, mask)\n y = Softmax<axis=-1>(m) }")
    mask = np.where(np.tri(6) > 0, 0, outside).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(mask, "mask"))
    return model


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_mask_of_minus_infinity_leaves_the_noise_of_the_others(precision: str) -> None:
    model = masked(-np.inf)
    feeds = {"x": noise(6, 6)}
    profile = derive_model(model, [feeds], precision)
    (output,) = profile.header.outputs
    assert (output.kind, output.why) == ("real", None)
    finite = derive_model(masked(-1e4), [feeds], precision)
    assert np.linalg.norm(profile.deviation[0]["y"], axis=1) == pytest.approx(
        np.linalg.norm(finite.deviation[0]["y"], axis=1), rel=0.9, abs=1e-9
    )
    right = float32(model, feeds)
    assert budget(profile, right) < 1
    assert budget(profile, {"y": right["y"] + np.tri(6, dtype=np.float32) * np.float32(0.1)}) > 1


def test_a_value_of_which_noise_leaves_no_number_has_no_deviation_to_judge_by() -> None:
    base = {"y": np.ones(4), "z": np.ones(4)}
    spread = Spread(base)
    for number in range(3):
        spread.add({"y": np.array([np.nan, np.inf, np.nan, 1.1]), "z": np.array([np.nan, 1.1, 1.1, number])}, base, 1.0)
    spread.note_lost(base)
    assert spread.unstable == {"y": Unstable(noted(NoteCode.LOST_TO_NOISE, share=0.75))}


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_power_of_three_stays_one_in_every_type_that_holds_a_three(precision: str) -> None:
    """ONNX defines Gelu by tanh with x cubed, the three cast to the type of x: a noisy exponent left no number below zero."""
    model = parsed('g (float[8, 8] x) => (float[8, 8] y) { z = Gelu<approximate="tanh">(x)\n y = Neg(z) }', 20)
    feeds = {"x": noise(8, 8)}
    profile = derive_model(model, [feeds], precision)
    (output,) = profile.header.outputs
    assert (output.kind, output.why) == ("real", None)
    right = float32(model, feeds)
    assert budget(profile, right) < 1
    assert budget(profile, {"y": right["y"] * np.float32(1.1)}) > 1

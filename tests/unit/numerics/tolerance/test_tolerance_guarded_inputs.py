"""Inputs at which guards count are asked where they tell an engine that has lost them, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_graphs import noise, parsed

from assay.core.input_plan import InputRange
from assay.models.tolerance_file import read_tolerance, write_tolerance
from assay.numerics.tolerance.derive import derive_each, derive_model
from assay.numerics.tolerance.derived_tolerance import GuardedInputs

LOG = "<float low={1e-5}> { s = Mul(x, x) c = Clip(s, low) y = Log(c) }"
ROOT = "{ m = Relu(x) y = Sqrt(m) }"
LARGE = "<float[4] w={1, 1, 1, 1}, float far={1000}> { a = Add(x, far) y = LayerNormalization(a, w) }"
ONE_PASS = (
    "<float[4] w={1, 1, 1, 1}, float far={7.7}, int64[3] s={1, 4, 2}> "
    "{ r = Reshape(x, s) a = Add(r, far) n = GroupNormalization<num_groups=1>(a, w, w) t = Shape(x) y = Reshape(n, t) }"
)
ELSEWHERE = "<float e={1e-5}, float one={1}> { s = Mul(x, x) a = Add(s, one) b = Add(a, e) y = Log(b) }"


def _guarded(body: str, precision: str = "float32") -> GuardedInputs | None:
    model = parsed(f"g (float[2, 4] x) => (float[2, 4] y) {body}")
    return next(iter(derive_model(model, [{"x": noise(2, 4)}], precision).guarded), None)


def test_at_zero_a_logarithm_needs_its_lower_end() -> None:
    guarded = _guarded(LOG)
    assert guarded is not None
    assert not guarded.inputs["x"].any()
    assert guarded.inputs["x"].dtype == np.float32
    assert guarded.oracle["y"] == pytest.approx(np.full((2, 4), np.log(1e-5)))
    assert 0.001 < guarded.allowed["y"] < 0.1


def test_below_zero_a_root_needs_its_rectifier() -> None:
    guarded = _guarded(ROOT)
    assert guarded is not None
    assert (guarded.inputs["x"] < 0).any()
    assert not guarded.oracle["y"][guarded.inputs["x"] <= 0].any()


@pytest.mark.parametrize(
    ("body", "precision"),
    [
        ("{ y = Softmax(x) }", "float32"),
        (ELSEWHERE, "float32"),  # no input makes it count
        (LARGE, "float32"),  # what is left of a large mean is rounding, and the epsilon scales it up
        (ONE_PASS, "float32"),  # by the means of squares, rounding leaves less than zero of a variance
        (LOG, "float16"),
    ],
)
def test_they_say_nothing(body: str, precision: str) -> None:
    assert _guarded(body, precision) is None


@pytest.mark.parametrize(
    ("stated", "least"),
    [
        ({"x": InputRange(0, 1)}, 0.0),
        ({"x": InputRange(high=-1e-4)}, -1e-4),  # the lower end counts there
        ({"x": InputRange(1, 2)}, None),
        ({"x": InputRange(choices=(0.5, 2))}, None),  # as drawn
        ({"other": InputRange(1, 2)}, 0.0),
        (None, None),  # inputs of the user's own
    ],
)
def test_what_is_stated_of_inputs_holds_there(stated: dict[str, InputRange] | None, least: float | None) -> None:
    model = parsed(f"g (float[2, 4] x) => (float[2, 4] y) {LOG}")
    (profile,) = derive_each(model, [{"x": noise(2, 4)}], "float32", [()], stated=stated)
    guarded = next(iter(profile.guarded), None)
    assert (guarded is None) == (least is None)
    if guarded is not None:
        assert guarded.inputs["x"] == pytest.approx(np.full((2, 4), least))


TWO = "<float low={1e-5}> { s = Mul(x, x) c = Clip(s, low) l = Log(c) m = Relu(x) r = Sqrt(m) y = Add(l, r) }"


def test_each_guard_that_is_lost_alone_is_told_by_one_of_them() -> None:
    model = parsed(f"g (float[2, 4] x) => (float[2, 4] y) {TWO}")
    at_zero, below = derive_model(model, [{"x": noise(2, 4)}], "float32").guarded
    assert not at_zero.inputs["x"].any()
    assert (below.inputs["x"] < 0).any()
    assert below.oracle["y"] == pytest.approx(np.log(np.maximum(below.inputs["x"].astype(np.float64) ** 2, 1e-5)))


@pytest.mark.parametrize("body", [LOG, TWO])
def test_they_are_kept_with_the_tolerance(tmp_path: Path, body: str) -> None:
    model = parsed(f"g (float[2, 4] x) => (float[2, 4] y) {body}")
    profile = derive_model(model, [{"x": noise(2, 4)}], "float32")
    assert profile.guarded
    for name, kept in (("with", profile), ("without", replace(profile, guarded=()))):
        write_tolerance(tmp_path / name, kept)
        read = read_tolerance(tmp_path / name)
        assert read is not None
        assert [_plain(each) for each in read.guarded] == [_plain(each) for each in kept.guarded]


def _plain(guarded: GuardedInputs) -> tuple[object, ...]:
    return guarded.inputs["x"].tolist(), guarded.oracle["y"].tolist(), guarded.allowed

"""Noise of very different orders in one output, noise that does not grow in proportion, and what JSON cannot hold."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, parser

from assay.core.case import Tolerance
from assay.errors import UsageError
from assay.models.tolerance_file import read_header, read_tolerance, write_tolerance
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor

RNG = np.random.default_rng(11)


def _model(text: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}')


def _used(model: ModelProto, inputs: list[dict[str, Tensor]], wrong: float = 0.0) -> dict[str, float]:
    """Budgets of a float32 evaluation in numpy's own order, `wrong` of the quiet elements' size added to them."""
    profile = derive_model(model, inputs, "float32")
    judged_outputs = []
    for oracle in profile.oracle:
        outputs = {}
        for name, value in oracle.items():
            quiet = np.abs(value) < 1e6
            outputs[name] = np.where(quiet, value * (1 + wrong), value).astype(np.float32)
        judged_outputs.append(outputs)
    return {
        name: output.metrics["budget_used"] for name, output in judge_outputs(judged_outputs, None, profile).items()
    }


MASKED = """g (float[8, 16] x, float[16, 16] w, float[8, 16] mask) => (float[8, 16] y) { h = MatMul(x, w) y = Add(h, mask) }"""


def test_a_mask_of_a_billion_does_not_hide_its_neighbours() -> None:
    mask = np.where(RNG.random((8, 16)) < 0.5, 0.0, -1e9).astype(np.float32)
    x, w = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 16)))
    inputs = [{"x": x, "w": w, "mask": mask}]
    assert _used(_model(MASKED), inputs)["y"] < 1.0
    assert _used(_model(MASKED), inputs, wrong=1e-3)["y"] > 10.0


def test_noise_that_bends_is_drawn_as_it_is() -> None:
    """The root of a difference that is nearly zero: amplified 512 times and divided again it came out 22 times too small."""
    model = _model("g (float[64, 8] x) => (float[64] y) { n = ReduceSumSquare<keepdims=0>(x, a) d = Sub(n, n2)"
                   " z = Relu(d) y = Sqrt(z) }".replace("g (float[64, 8] x)", "g (float[64, 8] x, int64[1] a, float[64] n2)"))  # fmt: skip
    x = RNG.standard_normal((64, 8)).astype(np.float32)
    n2 = np.square(x.astype(np.float64)).sum(1).astype(np.float32)
    inputs = [{"x": x, "a": np.array([1]), "n2": n2}]
    profile = derive_model(model, inputs, "float32")
    ours = np.sqrt(np.maximum(np.square(x).sum(1, dtype=np.float32) - n2, 0))
    budget = judge_outputs([{"y": ours.astype(np.float32)}], None, profile)["y"].metrics["budget_used"]
    assert budget < 1.0


def test_a_scalar_and_a_defect_without_end_survive_the_disk(tmp_path: Path) -> None:
    model = _model(
        "g (float[4, 8] x, float[8, 8] w) => (float s, int64[4] i, float[4, 8] r)"
        "{ h = MatMul(x, w) s = ReduceSum<keepdims=0>(h) i = ArgMax<axis=1, keepdims=0>(h) r = Relu(x) }"
    )
    inputs = [{"x": RNG.standard_normal((4, 8)).astype(np.float32), "w": np.eye(8, dtype=np.float32)}]
    profile = derive_model(model, inputs, "float32")
    write_tolerance(tmp_path / "p", profile)
    header = read_header(tmp_path / "p")
    assert header is not None
    assert all(math.isfinite(attempt.budget) for attempt in header.selftest)
    back = read_tolerance(tmp_path / "p")
    assert back is not None
    assert back.oracle[0]["s"].shape == ()
    outputs = {
        name: np.asarray(value, np.float32 if value.dtype.kind == "f" else value.dtype)
        for name, value in back.oracle[0].items()
    }
    assert set(judge_outputs([outputs], None, back)) == {"s", "i", "r"}


def test_the_logarithm_of_a_sum_does_not_see_what_is_masked() -> None:
    model = _model("g (float[4, 16] x, int64[1] a) => (float[4, 1] y) { y = ReduceLogSumExp<keepdims=1>(x, a) }")
    x = RNG.standard_normal((4, 16)).astype(np.float32)
    x[:, 8:] = -1e9
    inputs = [{"x": x, "a": np.array([1])}]
    assert _used(model, inputs)["y"] < 1.0
    assert _used(model, inputs, wrong=1e-2)["y"] > 1.0


def test_elements_gathered_where_the_indices_are_fewer_than_the_rows() -> None:
    model = _model("g (float[3, 4] x, int64[2, 4] i) => (float[2, 4] y) { y = GatherElements<axis=0>(x, i) }")
    x, i = np.arange(12, dtype=np.float64).reshape(3, 4), np.array([[0, 1, 2, -1], [2, 0, 1, 0]])
    assert WideEvaluator(model).evaluate({"x": x, "i": i})[0].tolist() == [[0, 5, 10, 11], [8, 1, 6, 3]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_a_tolerance_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(UsageError, match="finite number, at least 0"):
        Tolerance(rtol=bad)
    with pytest.raises(UsageError, match="finite number, at least 0"):
        Tolerance(atol=bad)

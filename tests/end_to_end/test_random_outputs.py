"""Outputs that are drawn at random, beside such as are not: real engines, from the model to the exit code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import assay
from assay.core.finding import FindingCode
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult

X = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)


def _model(path: Path, outputs: str, draw: str = "RandomNormalLike") -> None:
    """z is drawn, y is not."""
    floats = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, X.shape) for name in "xyz"}
    nodes = [
        helper.make_node(draw, ["x"], ["r"]),
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Mul", ["r", "y"], ["z"]),
    ]
    graph = helper.make_graph(nodes, "drawn", [floats["x"]], [floats[name] for name in outputs])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _model(tmp_path / "both.onnx", "yz")
    _model(tmp_path / "alone.onnx", "z")
    return tmp_path


def _checked(model: str, flow: str, tolerance: str, **golden: np.ndarray) -> tuple[VerifyResult, int]:
    np.savez("golden.npz", x=X, **golden)
    checked = assay.check(model, flows=[flow], golden="golden.npz", tolerance=tolerance, measure=False)
    (result,) = checked.results
    assert isinstance(result, VerifyResult)
    return result, checked.judgement.exit_code


@pytest.mark.parametrize("tolerance", ["torch", "derived"])
def test_the_answer_rests_on_what_is_not_drawn(here: Path, tolerance: str) -> None:
    y = np.maximum(X, 0)
    result, code = _checked("both.onnx", "onnxruntime", tolerance, y=y, z=X)
    assert (result.outcome, code) == (Outcome.OK, 0), result.detail
    drawn = next(one for one in result.comparisons if one.output == "z")
    assert drawn.degenerate is not None
    assert drawn.degenerate.code is FindingCode.RANDOM
    assert drawn.metrics == {}
    result, code = _checked("both.onnx", "onnxruntime", tolerance, y=y + np.float32(0.01), z=X)
    assert (result.outcome, code) == (Outcome.MISMATCH, 1), result.detail


@pytest.mark.parametrize("tolerance", ["torch", "derived"])
def test_where_all_is_drawn_nothing_is_proven(here: Path, tolerance: str) -> None:
    result, code = _checked("alone.onnx", "onnxruntime", tolerance, z=X)
    assert (result.outcome, code) == (Outcome.MISTRUSTED, 3), result.detail
    assert "RandomNormalLike 'r'" in result.detail


@pytest.mark.parametrize("lie", ["wrong_shape", "wrong_dtype", "lose_output"])
def test_a_drawn_output_has_its_type_and_its_shape(here: Path, lie: str) -> None:
    result, code = _checked("alone.onnx", f"faulty-{lie}", "torch", z=X)
    assert (result.outcome, code) == (Outcome.MISMATCH, 1), result.detail


def test_an_engine_that_is_not_steady_is_red_beside_a_drawn_output(here: Path) -> None:
    result, code = _checked("both.onnx", "faulty-nondeterministic", "torch", y=np.maximum(X, 0), z=X)
    assert code == 1, result.detail
    assert result.outcome in (Outcome.NONDETERMINISTIC, Outcome.MISMATCH)


def test_a_changed_model_is_the_same_where_only_its_draws_differ(here: Path) -> None:
    _model(here / "uniform.onnx", "yz", "RandomUniformLike")
    checked = assay.check("uniform.onnx", flows=["onnxruntime"], reference="both.onnx", measure=False)
    assert checked.judgement.exit_code == 0, checked.judgement.run.reason

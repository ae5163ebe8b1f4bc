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
from assay.core.result import ChangeResult, VerifyResult
from assay.core.verdict import VerdictStatus
from assay.judge.words.warnings_text import passed_over

X = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)


def _model(path: Path, outputs: str, draw: str = "RandomNormalLike") -> None:
    """y is not drawn; z is, unless `draw` draws nothing."""
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
def test_a_drawn_output_leaves_the_answer_open_and_the_others_are_judged(here: Path, tolerance: str) -> None:
    y = np.maximum(X, 0)
    result, code = _checked("both.onnx", "onnxruntime", tolerance, y=y, z=X)
    assert (result.outcome, code) == (Outcome.MISTRUSTED, 3), result.detail
    assert not list(passed_over(result.comparisons))
    drawn = next(comparison for comparison in result.comparisons if comparison.output == "z")
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


@pytest.mark.parametrize(
    ("new", "old", "code"),
    [
        ("RandomUniformLike", "RandomNormalLike", 3),
        ("Identity", "RandomNormalLike", 3),
        ("RandomNormalLike", "Identity", 1),
        ("Identity", "Identity", 0),
    ],
)
def test_nobody_calls_a_changed_model_the_same_where_either_draws(here: Path, new: str, old: str, code: int) -> None:
    _model(here / "new.onnx", "yz", new)
    _model(here / "old.onnx", "yz", old)
    checked = assay.check("new.onnx", flows=["onnxruntime"], reference="old.onnx", measure=False)
    assert checked.judgement.exit_code == code
    change = next(result for result in checked.results if isinstance(result, ChangeResult))
    (verdict,) = [candidate for candidate in checked.judgement.verdicts if candidate.job_key == change.job_key]
    assert verdict.word is {0: VerdictStatus.PASS, 1: VerdictStatus.FAIL, 3: VerdictStatus.INCONCLUSIVE}[code]
    if code == 3:
        assert "check without draws" in verdict.reason


@pytest.mark.parametrize(("require", "inputs"), [([], ""), (["vs_float.rel_l2 <= 0.5"], "inputs.npz")])
def test_what_a_quantized_model_draws_is_no_loss_that_a_limit_decides(
    here: Path, require: list[str], inputs: str
) -> None:
    np.savez("inputs.npz", x=X)
    model = onnx.load("both.onnx")
    stored = {"s": np.float32(0.05), "n": np.int8(0), "w": 20 * np.eye(16, dtype=np.int8)}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items()
    )
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "n"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "n"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "s", "n"], ["i"]),
        helper.make_node("MatMul", ["d", "i"], ["f"]),
        *model.graph.node,
    ]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    next(node for node in model.graph.node if node.op_type == "Relu").input[0] = "f"
    onnx.save(model, "quantized.onnx")
    options = {"flows": ["onnxruntime"], "measure": False, "require": require, "inputs": inputs or None}
    checked = assay.check("quantized.onnx", reference="both.onnx", **options)
    change = next(result for result in checked.results if isinstance(result, ChangeResult))
    assert not change.comparisons
    assert [comparison.output for comparison in change.against_float if comparison.metrics] == ["y"]
    (verdict,) = [candidate for candidate in checked.judgement.verdicts if candidate.job_key == change.job_key]
    assert verdict.word is VerdictStatus.INCONCLUSIVE, verdict.reason
    assert "RandomNormalLike 'r'" in verdict.reason


@pytest.mark.parametrize("goal", ["rel_l2 <= 0.05", "vs_float.rel_l2 <= 0.05"])
def test_a_limit_says_nothing_of_an_output_that_records_no_error(here: Path, goal: str) -> None:
    np.savez("inputs.npz", x=X)
    given = {"flows": ["onnxruntime"], "inputs": "inputs.npz", "require": [goal], "measure": False}
    if goal.startswith("rel"):
        assert assay.check("both.onnx", **given).judgement.exit_code == 3
    _model(here / "uniform.onnx", "yz", "RandomUniformLike")
    assert assay.check("uniform.onnx", reference="both.onnx", **given).judgement.exit_code == 3


def test_nan_in_what_is_drawn_is_found(here: Path) -> None:
    result, code = _checked("alone.onnx", "faulty-nan", "torch", z=X)
    assert (result.outcome, code) == (Outcome.MISMATCH, 1), result.detail
    assert "nan" in {finding.kind for finding in (*result.findings, *result.comparisons[0].findings)}

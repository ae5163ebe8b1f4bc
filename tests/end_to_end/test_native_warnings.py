"""What libraries themselves warn of, from their own output to the exit code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from assay.cli.main import app
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.native_warning import WarningCode
from assay.core.result import VerifyResult
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.worker.dispatch import execute
from assay.worker.stages import Stages


def _model(path: Path, *spare: str) -> Path:
    values = [numpy_helper.from_array(np.ones(3, "f"), name) for name in ("w", *spare)]
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    signature = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3]) for name in ("x", "y")]
    graph = helper.make_graph([node], "g", signature[:1], signature[1:], values)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _check(model: Path, *more: str) -> tuple[int, str]:
    history = str(model.parent / "history")
    given = ["check", str(model), "--flow", "onnxruntime", "--only-kind", "verify", "--history", history, *more]
    result = CliRunner().invoke(app, given)
    return result.exit_code, result.output


def test_an_unused_initializer_is_counted_named_and_fails_a_goal(tmp_path: Path) -> None:
    model = _model(tmp_path / "spare.onnx", "left_over", "another")
    code, output = _check(model, "--require", "warnings==0")
    assert code == 1, output
    assert "warnings is 2, allowed is exactly 0" in output
    assert "2 initializers dropped: " in output
    assert "left_over" in output
    assert "another" in output
    assert _check(model, "--require", "warnings.initializer-dropped<=1")[0] == 1
    assert _check(model, "--require", "warnings.fusion-skipped<=0")[0] == 0


def test_a_model_of_which_nothing_is_warned_passes(tmp_path: Path) -> None:
    code, output = _check(_model(tmp_path / "clean.onnx"), "--require", "warnings==0")
    assert code == 0, output


def test_an_engine_from_the_cache_keeps_what_was_said_when_it_was_built(tmp_path: Path, own_cache: Path) -> None:
    model = _model(tmp_path / "spare.onnx", "left_over")
    inputs = [{"x": np.ones((1, 3), "f")}]
    outputs = [{"y": np.full((1, 3), 2, "f")}]
    write_golden(
        tmp_path / "golden",
        model=open_model(model),
        inputs=inputs,
        outputs=outputs,
        seed=0,
        producer="numpy",
        producer_version=np.__version__,
        who="tests",
        reason="a test",
        created_at="2026-11-21T00:00:00+00:00",
    )
    case = Case("spare", open_model(model), Inputs(golden=str(tmp_path / "golden")))
    job = VerifyJob(case, Flow("onnxruntime", "onnxruntime"), reuse=True, scratch=str(tmp_path))
    first, second = (execute(job, Stages(lambda stage: None)) for _ in range(2))
    assert isinstance(first, VerifyResult)
    assert isinstance(second, VerifyResult)
    assert second.facts.reused
    assert [(warning.code, warning.node) for warning in first.native_warnings] == [
        (WarningCode.INITIALIZER_DROPPED, "left_over")
    ]
    assert second.native_warnings == first.native_warnings


def _convolutions(path: Path) -> Path:
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.standard_normal((3, 3, 3, 3)).astype("f"), f"w{n}") for n in (0, 1)]
    nodes = []
    for number, (into, out) in enumerate((("x", "h"), ("h", "y"))):
        nodes.append(helper.make_node("Conv", [into, f"w{number}"], [f"c{number}"], name=f"conv{number}", pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"c{number}"], [out], name=f"relu{number}"))
    signature = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 8, 8]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", signature[:1], signature[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_fusions_that_the_run_before_had_are_found_without_any_comparison_of_speed(tmp_path: Path) -> None:
    model = _convolutions(tmp_path / "m.onnx")
    assert _check(model)[0] == 0
    apart = ("--option", "optimization=disable", "--compare-run", "last")
    code, output = _check(model, *apart, "--require", "fusions.lost<=0")
    assert code == 1, output
    assert "fusions.lost is 2, allowed is at most 0" in output
    assert "Critical warnings" in output
    assert "fusion lost for 2 nodes: " in output
    assert "2 Relu" in output
    code, output = _check(model, *apart)
    assert code == 0, output
    assert "fusion lost" not in output, "the run before has lost them already"

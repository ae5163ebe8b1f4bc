"""QNN's HTP emulator in the environment that its backend ships: real, 440 MB, so not in CI. What needs no QNN is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import assay
from assay.backends.onnx_loader import load_checked, signature_of
from assay.backends.onnxruntime.qnn import OnnxRuntimeQnn, named
from assay.commands.known_environments import open_environments, shipped_environments
from assay.core.environment import Interpreter
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.errors import UsageError
from small_models import linear_model

FLOW = OnnxRuntimeQnn.flows[0]


@pytest.fixture(scope="session")
def qnn(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    environments = open_environments(tmp_path_factory.mktemp("history"))
    environments.build("qnn")
    return environments.interpreter("qnn")


def _inside(qnn: Interpreter, program: str) -> str:
    done = subprocess.run(
        [qnn.program, "-c", program], capture_output=True, text=True, env=qnn.environ(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_flow_runs_in_an_environment_that_its_backend_ships() -> None:
    spec = shipped_environments()[FLOW.environment]
    assert (spec.name, spec.shipped_by, spec.requires) == ("qnn", "onnxruntime-qnn", OnnxRuntimeQnn.requires)


def test_without_its_environment_it_says_the_one_command(
    linear: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(linear.parent)
    monkeypatch.setenv("ASSAY_ENVIRONMENTS", str(tmp_path / "none"))
    checked = assay.check("linear.onnx", flows=["qnn-htp", "reference"], measure=False)
    missing, reference = checked.results
    assert (missing.outcome, reference.outcome) == (Outcome.UNAVAILABLE, Outcome.OK)
    assert "assay env build qnn" in missing.detail
    assert "onnxruntime-qnn==2.7.0" in missing.detail
    assert not (tmp_path / "none").exists()


def test_wrong_options_are_refused_first(tmp_path: Path) -> None:
    backend = OnnxRuntimeQnn()
    model = linear_model(tmp_path / "linear.onnx")
    with pytest.raises(UsageError, match="backend_type"):
        backend.lower(model, Flow("x", "onnxruntime-qnn", {"backend_type": "npu"}))
    with pytest.raises(UsageError, match="cpu_fallback"):
        backend.lower(model, Flow("x", "onnxruntime-qnn", {"cpu_fallback": "yes"}))


def test_a_dimension_without_a_name_gets_one_that_its_size_can_be_fixed_by(tmp_path: Path) -> None:
    model = linear_model(tmp_path / "linear.onnx")
    proto = onnx.load(model)
    proto.graph.input[0].type.tensor_type.shape.dim[0].Clear()
    onnx.save(proto, model)
    folder = tmp_path / "named"
    folder.mkdir()
    copy = named(model, signature_of(load_checked(model)), folder)
    assert copy.parent == folder
    assert onnx.load(copy).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "x[0]"


@pytest.mark.slow
def test_it_conforms_inside_its_environment(qnn: Interpreter) -> None:
    program = """
from assay.backends.onnx_loader import load_checked, signature_of
from assay.backends.onnxruntime.qnn import OnnxRuntimeQnn, named
from assay.testing import check_backend
check_backend(OnnxRuntimeQnn())
print("conforms")
"""
    assert "conforms" in _inside(qnn, program)


@pytest.fixture
def here(linear: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(linear.parent)
    return linear.parent


def _mixed(path: Path) -> None:
    """Relu, which QNN takes, then Det, which it does not (onnxruntime-qnn 2.7.0)."""
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"), helper.make_node("Det", ["r"], ["y"], name="det")]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 3])]
    graph = helper.make_graph(nodes, "mixed", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)


@pytest.mark.slow
def test_a_node_on_the_cpu_is_no_pass(qnn: Interpreter, here: Path) -> None:
    _mixed(here / "mixed.onnx")
    checked = assay.check("mixed.onnx", "linear.onnx", flows=["qnn-htp"])
    results = {(result.case, result.kind): result for result in checked.results}
    for task in ("verify", "measure"):
        mixed, linear = results["mixed", task], results["linear", task]
        assert mixed.outcome is Outcome.UNDELEGATED, mixed.detail
        assert mixed.node == "det"
        assert "1 of 2 operators" in mixed.detail
        assert linear.outcome is Outcome.OK, linear.detail
        assert {placement.device for placement in linear.facts.placements} == {"QNN"}
        assert linear.facts.undelegated == ()
        assert linear.facts.delegated
        assert linear.versions["onnxruntime-qnn"] == "2.7.0"
    assert checked.judgement.exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("fallback", [False, True])
def test_the_trap_of_a_library_that_is_not_in_the_wheel(qnn: Interpreter, here: Path, fallback: bool) -> None:
    """With backend_type=cpu onnxruntime 1.31 runs everything on the CPU and lists QNN first all the same."""
    (here / "assay.toml").write_text(
        '[flow.trap]\nbackend = "onnxruntime-qnn"\nenvironment = "qnn"\n'
        f'options = {{ backend_type = "cpu", cpu_fallback = {str(fallback).lower()} }}\n'
    )
    checked = assay.check("linear.onnx", flows=["trap"], config="assay.toml", measure=False)
    (result,) = checked.results
    assert result.outcome is (Outcome.UNDELEGATED if fallback else Outcome.UNAVAILABLE), result.detail
    assert checked.judgement.exit_code != 0
    if not fallback:
        assert "libQnnCpu.so" in result.detail


@pytest.mark.slow
def test_what_ran_counts_and_not_what_was_planned(qnn: Interpreter, here: Path) -> None:
    """The record says that QNN took both operators; the model beside it is one that the CPU runs alone."""
    program = f"""
import numpy as np, shutil
from pathlib import Path
from assay.backends.onnx_loader import load_checked, signature_of
from assay.backends.onnxruntime.qnn import OnnxRuntimeQnn, named
from assay.core.flow import Flow
backend = OnnxRuntimeQnn()
backend.prepare()
saved = Path("saved")
saved.mkdir()
backend.lower(Path({str(here / "linear.onnx")!r}), backend.flows[0]).save(saved)
facts = []
for options in ({{}}, {{"backend_type": "cpu", "cpu_fallback": True}}):
    engine = backend.load(saved, Flow("q", "onnxruntime-qnn", options))
    engine.run({{"x": np.ones((1, 4), np.float32)}})
    facts.append(engine.facts())
    shutil.copyfile({str(here / "linear.onnx")!r}, saved / "model.onnx")
print([one.delegated for one in facts], facts[0].undelegated, {{one.device for one in facts[1].placements}})
"""
    assert "[2, 0] () {'CPUExecutionProvider'}" in _inside(qnn, program)


@pytest.mark.slow
def test_sizes_are_compiled_in_and_another_is_refused_in_words(qnn: Interpreter, here: Path) -> None:
    program = f"""
import numpy as np
from pathlib import Path
from assay.backends.onnx_loader import load_checked, signature_of
from assay.backends.onnxruntime.qnn import OnnxRuntimeQnn, named
from assay.core.flow import Flow
from assay.errors import Unsupported
backend = OnnxRuntimeQnn()
backend.prepare()
engine = backend.lower(Path({str(here / "linear.onnx")!r}), Flow("q", "onnxruntime-qnn", dims={{"N": (1, 2, 4)}}))
print(engine.run({{"x": np.ones((2, 4), np.float32)}})["y"].shape)
try:
    engine.run({{"x": np.ones((3, 4), np.float32)}})
except Unsupported as error:
    print(error)
"""
    text = _inside(qnn, program)
    assert "(2, 3)" in text
    assert "It was compiled for N=2" in text

"""A model for which nothing can compute a reference, because it is broken: that is said, and the machine is not blamed."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import NodeProto, TensorProto, helper, save_model

import assay
from assay.core.result import Cause, Outcome


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _model(path: Path, node: NodeProto, shape: list[str | int]) -> None:
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, size]) for name, size in (("a", 3), ("b", 4))]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("ours", 1)]
    graph = helper.make_graph([node], "g", inputs, outputs)
    save_model(helper.make_model(graph, opset_imports=domains, ir_version=8), path)


def test_a_model_whose_shapes_do_not_fit_is_broken(folder: Path) -> None:
    _model(folder / "m.onnx", helper.make_node("Concat", ["a", "b"], ["y"], axis=0), ["n", "m"])
    checked = assay.check("m.onnx", flows=["onnxruntime"], measure=False)
    (result,) = checked.results
    assert (result.outcome, result.cause) == (Outcome.ERROR, Cause.INVALID_MODEL)
    assert result.detail.startswith("the model is broken: ")
    assert checked.judgement.exit_code == 1

"""A model for which nothing can compute a reference: engines run all the same, and nobody is blamed for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import NodeProto, TensorProto, helper, save_model

import assay
from assay.core.outcome import Cause, Outcome
from assay.core.verdict import VerdictStatus
from assay.errors import BadModel


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
    with pytest.raises(BadModel, match=r"node number 0 \(Concat\) does not take what it is given"):
        assay.check("m.onnx", flows=["onnxruntime"], measure=False)


NEXT = "--option model=identity --golden ANSWERS.npz"


def test_an_operator_that_only_one_engine_has_is_neither_right_nor_wrong(folder: Path) -> None:
    _model(folder / "m.onnx", helper.make_node("Ours", ["a", "b"], ["y"], domain="ours"), ["n", "m"])
    (folder / "assay.toml").write_text('[flow.mine]\nbackend = "faulty"\noptions = { model = "identity" }\n')
    checked = assay.check("m.onnx", flows=["mine", "onnxruntime"], config="assay.toml", measure=False)
    mine, other = checked.judgement.verdicts
    assert checked.judgement.exit_code == 3
    assert other.word is VerdictStatus.SKIP
    assert mine.reason.startswith("agrees with mine, which is the same library (faulty) and no witness of its own")
    assert NEXT in mine.reason


def test_inputs_that_nobody_takes_are_no_fault_of_an_engine(folder: Path) -> None:
    _model(folder / "m.onnx", helper.make_node("Ours", ["a", "b"], ["y"], domain="ours"), ["n", "m"])
    options = '{ model = "identity", fault = "raise" }'
    (folder / "assay.toml").write_text(f'[flow.mine]\nbackend = "faulty"\noptions = {options}\n')
    checked = assay.check("m.onnx", flows=["mine"], config="assay.toml", measure=False)
    (result,), (verdict,) = checked.results, checked.judgement.verdicts
    assert (result.outcome, result.cause) == (Outcome.MISTRUSTED, Cause.NO_REFERENCE)
    for oracle in ("reference-f64", "reference", "onnxruntime-disable", "openvino-f32", "torch-eager"):
        assert f"{oracle}: " in result.detail
    assert "nor does this engine: RuntimeError while in run: faulty was asked to raise" in verdict.reason
    assert "--flow mine --option fault=raise --option model=identity --golden ANSWERS.npz" in verdict.reason
    assert checked.judgement.exit_code == 3

"""Outputs that a model declares otherwise than its nodes give them; outputs that prove nothing beside others that do."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

import assay
from assay.core.outcome import Outcome
from assay.judge.words.warnings_text import notes_of


def save(path: Path, nodes: list[onnx.NodeProto], outputs: dict[str, list[int | str]]) -> Path:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [helper.make_tensor("low", TensorProto.FLOAT, [], [-1e9])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


def test_a_wrong_declaration_is_told_and_the_graph_is_judged(tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", [helper.make_node("Neg", ["x"], ["y"])], {"y": ["N", 8, 1]})
    checked = assay.check(path, flows=["onnxruntime"], measure=False, history=tmp_path / "h")
    assert checked.results[0].outcome is Outcome.OK
    assert checked.results[0].notes == ()
    assert [contradiction.code for contradiction in checked.results[0].contradictions] == ["declared-shape"]
    assert notes_of(checked.results[0]) == (
        "the model contradicts itself: output 'y' is declared as [N, 8, 1], and its nodes give [N, 8]: judged as the nodes give it",
    )


def test_an_output_that_proves_nothing_does_not_discard_the_others(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["y"]),
        helper.make_node("Less", ["x", "low"], ["b"]),
        helper.make_node("Cast", ["b"], ["z"], to=TensorProto.FLOAT),
    ]
    checked = assay.check(
        save(tmp_path / "m.onnx", nodes, {"y": ["N", 8], "z": ["N", 8]}),
        flows=["onnxruntime"], measure=False, history=tmp_path / "h",
    )  # fmt: skip
    assert checked.results[0].outcome is Outcome.OK
    assert checked.judgement.exit_code == 0
    assert notes_of(checked.results[0]) == (
        "output 'z': the reference is all zero in all 32 elements: it was compared, and proves nothing; the answer rests on 'y'",
    )


def test_an_output_that_no_input_reaches_is_told_as_such(tmp_path: Path) -> None:
    """It may be a mask, or a part of the model that its export froze."""
    nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Identity", ["low"], ["z"])]
    checked = assay.check(
        save(tmp_path / "m.onnx", nodes, {"y": ["N", 8], "z": []}),
        flows=["onnxruntime"], measure=False, history=tmp_path / "h",
    )  # fmt: skip
    assert checked.results[0].outcome is Outcome.OK
    assert notes_of(checked.results[0]) == ("output 'z' depends on no input: it is the same whatever is fed",)


def test_a_type_that_is_declared_wrongly_is_no_fault_of_a_flow(tmp_path: Path) -> None:
    """ONNX Runtime refuses such a file as it is."""
    path = save(tmp_path / "m.onnx", [helper.make_node("Neg", ["x"], ["y"])], {"y": ["N", 8]})
    model = onnx.load(path)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    onnx.save(model, path)
    checked = assay.check(path, flows=["onnxruntime"], measure=False, history=tmp_path / "h")
    assert checked.results[0].outcome is Outcome.OK
    note, corrected = notes_of(checked.results[0])
    assert note.startswith("the model contradicts itself: output 'y' is declared int64, and its nodes give float32")
    assert corrected.endswith("and took it with its declarations corrected")

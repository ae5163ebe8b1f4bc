"""Nodes in the order of the standard."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import GraphProto, TensorProto, helper

from assay.transforms.node_order import sort_file, sort_nodes

F = TensorProto.FLOAT


def _graph(*nodes: onnx.NodeProto) -> GraphProto:
    x, y = (helper.make_tensor_value_info(name, F, [2]) for name in "xy")
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    return helper.make_graph(list(nodes), "g", [condition, x], [y])


def _branches(read: str) -> onnx.NodeProto:
    """Both branches read `read` from outside."""
    out = helper.make_tensor_value_info("b", F, [2])
    bodies = {
        name: helper.make_graph([helper.make_node("Neg", [read], ["b"])], name, [], [out])
        for name in ("then_branch", "else_branch")
    }
    return helper.make_node("If", ["c"], ["y"], name="branches", **bodies)


def _names(graph: GraphProto) -> list[str]:
    return [node.op_type for node in graph.node]


def test_what_a_branch_reads_comes_before_the_branch() -> None:
    graph = _graph(_branches("a"), helper.make_node("Abs", ["x"], ["a"]))
    assert sort_nodes(graph)
    assert _names(graph) == ["Abs", "If"]


def test_an_order_that_holds_is_kept_and_a_cycle_is_left_alone() -> None:
    sound = _graph(helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Exp", ["x"], ["e"]), _branches("a"))
    assert not sort_nodes(sound)
    assert _names(sound) == ["Abs", "Exp", "If"]
    cycle = _graph(helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"]))
    assert not sort_nodes(cycle)


def test_a_body_is_sorted_too() -> None:
    node = _branches("x")
    body = node.attribute[0].g
    body.node.insert(0, helper.make_node("Exp", ["b"], ["unused"]))
    graph = _graph(node)
    assert sort_nodes(graph)
    assert _names(graph.node[0].attribute[0].g) == ["Neg", "Exp"]


def test_a_file_out_of_order_is_valid_afterwards(tmp_path: Path) -> None:
    graph = _graph(_branches("a"), helper.make_node("Abs", ["x"], ["a"]))
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(str(path))
    sort_file(path)
    onnx.checker.check_model(str(path))

"""Parts of a case: each node alone, and the fewest nodes that give one output."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from assay.generators.case_parts import shorter, single_nodes
from assay.generators.case_values import CaseValues
from assay.ports.generator import GeneratedCase


def _values() -> CaseValues:
    nodes = [
        helper.make_node("Neg", ["x"], ["n"]),
        helper.make_node("Relu", ["n"], ["y"]),
        helper.make_node("Exp", ["x"], ["z"]),
    ]
    float_ = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", float_, [2])],
        [helper.make_tensor_value_info(name, float_, [2]) for name in ("y", "z")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": np.asarray([-1, 2], np.float32)}))
    values.evaluate()
    return values


def _operators(case: GeneratedCase) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(case.model).graph.node]


def test_each_node_is_fed_what_float64_gives_for_its_inputs() -> None:
    parts = [*single_nodes(_values())]
    assert [_operators(part) for part in parts] == [["Neg"], ["Relu"], ["Exp"]]
    assert {name: array.tolist() for name, array in parts[1].inputs.items()} == {"n": [1.0, -2.0]}
    assert parts[1].inputs["n"].dtype == np.float32


def test_outputs_that_are_right_are_left_out_one_at_a_time() -> None:
    """An optimiser's fault may need a second output, and not the third."""
    nodes = [helper.make_node(name, ["x"], [name]) for name in ("Neg", "Relu", "Exp")]
    float_ = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", float_, [2])],
        [helper.make_tensor_value_info(node.op_type, float_, [2]) for node in nodes],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": np.asarray([-1, 2], np.float32)}))
    values.evaluate()
    assert [_operators(case) for case in shorter(values, "Neg")] == [["Neg"], ["Neg", "Relu"], ["Neg", "Exp"]]


def test_first_what_an_output_needs_then_what_comes_before_it_then_one_node_less() -> None:
    parts = [*shorter(_values(), "y")]
    assert [_operators(case) for case in parts] == [["Neg", "Relu"], ["Neg"], ["Relu", "Exp"]]
    assert [output.name for output in onnx.load_from_string(parts[1].model).graph.output] == ["n"]

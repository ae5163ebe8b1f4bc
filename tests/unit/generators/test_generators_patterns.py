"""Subgraphs of models: mined, kept as text, and built again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.generators.mined import decode, encode, mine, mine_folder
from assay.generators.patterns import Patterns


def _model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Mul", ["x", "half"], ["h"]),
        helper.make_node("Softmax", ["h"], ["s"], axis=-1),
        helper.make_node("Neg", ["s"], ["y"]),
    ]
    float_ = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", float_, [2, 3])],
        [helper.make_tensor_value_info("y", float_, [2, 3])],
        [numpy_helper.from_array(np.float32(0.5), "half")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_every_node_ends_a_window_and_constants_keep_their_numbers() -> None:
    patterns = [*mine(_model())]
    assert [[node.operator for node in pattern.nodes] for pattern in patterns] == [
        ["Mul", "Softmax"],
        ["Mul", "Softmax", "Neg"],
    ]
    assert [value.numbers for value in patterns[0].values] == [None, (0.5,)]
    assert decode(encode(patterns)) == tuple(patterns)


def test_cases_come_near_to_the_models_of_a_folder(tmp_path: Path) -> None:
    onnx.save(_model(), str(tmp_path / "model.onnx"))
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    beside = _model()
    beside.graph.initializer.append(numpy_helper.from_array(np.ones(4096, np.float32), "beside"))
    onnx.save(
        beside, str(tmp_path / "beside.onnx"), save_as_external_data=True, size_threshold=0, location="beside.data"
    )
    generator = Patterns(mine_folder(tmp_path))
    made = [case for index in range(60) if (case := generator.make(7, index)) is not None]
    operators = [[node.op_type for node in onnx.load_from_string(case_made.model).graph.node] for case_made in made]
    assert ["Mul", "Softmax", "Neg"] in operators
    assert any("Softmax" in operator and operator[:3] != ["Mul", "Softmax", "Neg"] for operator in operators)


def test_a_sparse_weight_is_mined_as_the_dense_one(tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 4] x) => (float[1, 4] y) { a = Mul(x, w) b = Neg(a) y = Relu(b) }'
    weight = np.array([0, 3, 0, -2], np.float32)
    for kind in ("dense", "sparse"):
        model = onnx.parser.parse_model(text)
        if kind == "dense":
            model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
        else:
            places = np.flatnonzero(weight)
            values = numpy_helper.from_array(weight[places], "w")
            model.graph.sparse_initializer.append(
                onnx.helper.make_sparse_tensor(values, numpy_helper.from_array(places, "at"), [4])
            )
        (tmp_path / kind).mkdir()
        onnx.save(model, str(tmp_path / kind / "model.onnx"))
    assert mine_folder(tmp_path / "dense")
    assert mine_folder(tmp_path / "sparse") == mine_folder(tmp_path / "dense")

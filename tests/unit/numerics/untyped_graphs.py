"""Graphs whose inputs and outputs state no type."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper


def node(operator: str, reads: str, gives: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(operator, reads.split(","), gives.split(","), name=gives, **attributes)


def graph_of(nodes: list[onnx.NodeProto], outputs: str, inputs: str = "x", **stored: Any) -> onnx.GraphProto:
    untyped = onnx.TypeProto()
    return helper.make_graph(
        nodes,
        "g",
        [helper.make_value_info(name, untyped) for name in filter(None, inputs.split(","))],
        [helper.make_value_info(name, untyped) for name in outputs.split(",")],
        [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items()],
    )


def model_of(
    nodes: list[onnx.NodeProto], outputs: str, *, opset: int = 22, functions: Any = (), **rest: Any
) -> onnx.ModelProto:
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph_of(nodes, outputs, **rest), opset_imports=imports, functions=functions)

"""OpenVINO's model after each of its passes: as it is read first, and what each is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from assay.plugins import find_flow

pytest.importorskip("openvino")

from assay.backends.openvino.backend import OpenVINO


@pytest.mark.parametrize(("operator", "right"), [("Softmax", False), ("Tanh", True)])
def test_the_model_is_judged_as_read_and_after_each_pass(operator: str, right: bool, tmp_path: Path) -> None:
    """Softmax of opset 11 flattens all axes from the first on; OpenVINO's reader makes one of opset 13 of it."""
    node = helper.make_node(operator, ["x"], ["y"], **({"axis": 1} if operator == "Softmax" else {}))
    value = [helper.make_tensor_value_info(name, 1, [2, 3, 4]) for name in ("x", "y")]
    graph = helper.make_graph([node], "g", value[:1], value[1:])
    path, folder = tmp_path / "m.onnx", tmp_path / "passes"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=9), path)
    folder.mkdir()
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
    flat = np.exp(x.reshape(2, -1))
    wanted = np.tanh(x) if right else (flat / flat.sum(-1, keepdims=True)).reshape(x.shape)
    stages = OpenVINO().after_each_pass(path, find_flow("openvino-f32"), {"x": x}, folder)
    assert stages[0][0] == ""
    assert len(stages) > 100
    evaluated = [given for _, given in stages if given is not None]
    assert len(evaluated) > 100
    for given in evaluated:
        assert np.allclose(given["y"], wanted, atol=1e-5) is right

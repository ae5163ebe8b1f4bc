"""What a model holds besides its weights, read without them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.core.model import Model
from assay.models.examination.outer_structure import without_weights
from assay.worker.inputs.random_outputs import random_outputs

LARGE, SMALL = np.zeros((1024, 1024), np.float32), np.zeros(4, np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy")
    nodes = [helper.make_node("Bernoulli", ["x"], ["r"]), helper.make_node("MatMul", ["r", "large"], ["y"])]
    stored = [numpy_helper.from_array(LARGE, "large"), numpy_helper.from_array(SMALL, "small")]
    function = helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], stored), opset_imports=imports, functions=[function]
    )
    onnx.save(model, tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_all_but_the_large_weights_is_kept(path: Path) -> None:
    with path.open("rb") as file:
        stripped = without_weights(file, path.stat().st_size)
    assert len(stripped) < LARGE.nbytes / 100
    whole = onnx.load(path)
    del whole.graph.initializer[0]
    assert onnx.ModelProto.FromString(stripped) == whole


def test_of_what_is_no_model_nothing_is_kept(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])
    with path.open("rb") as file:
        assert without_weights(file, path.stat().st_size) is None


def test_what_is_drawn_is_found_without_them(path: Path) -> None:
    assert set(random_outputs(Model("m", str(path), ""), [])) == {"y"}
    assert not random_outputs(Model("m", "", ""), [])

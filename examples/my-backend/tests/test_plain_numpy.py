"""The conformance check that every backend of Assay passes, and what that check cannot know of this one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from plain_numpy.backend import PlainEngine, PlainNumpy

from assay.core.flow import Flow
from assay.errors import InvalidModel, Unsupported
from assay.ports import Backend, Dynamic, Engine
from assay.testing import check_backend

BACKEND: type[Backend] = PlainNumpy
DYNAMIC: type[Dynamic] = PlainNumpy
ENGINE: type[Engine] = PlainEngine
"""For mypy: the classes have the types of their ports, and of the optional ability that they have."""


def test_it_conforms() -> None:
    check_backend(PlainNumpy())


def test_assay_finds_it() -> None:
    from assay import plugins

    catalogue = plugins.catalogue()
    assert catalogue.backends["plain-numpy"].availability().available
    assert {"plain-numpy", "plain-numpy-wide"} <= set(catalogue.flows)


def _model(path: Path, operator: str, **attributes: object) -> Path:
    weight = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "w")
    inputs = ["x", "w"] if operator == "Conv" else ["x"]
    graph = helper.make_graph(
        [helper.make_node(operator, inputs, ["y"], name="the node", **attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [weight] if operator == "Conv" else [],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


@pytest.mark.parametrize(
    ("operator", "attributes", "sentence"),
    [
        ("Softmax", {}, "no operator Softmax"),
        ("Conv", {"dilations": [2, 2]}, "dilations"),
        ("Conv", {"auto_pad": "SAME_UPPER"}, "auto_pad"),
        ("MaxPool", {"kernel_shape": [2, 2], "ceil_mode": 1}, "ceil_mode"),
    ],
)
def test_what_it_cannot_do_is_refused_and_never_ignored(
    tmp_path: Path, operator: str, attributes: dict, sentence: str
) -> None:
    with pytest.raises(Unsupported, match=sentence) as error:
        PlainNumpy().lower(_model(tmp_path / "one.onnx", operator, **attributes), PlainNumpy.flows[0])
    assert error.value.node == "the node"


def test_wide_sums_are_closer_to_the_truth(tmp_path: Path) -> None:
    weight = np.random.default_rng(0).normal(size=(4096, 1)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="sum")],
        "sum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4096])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 1])],
        [numpy_helper.from_array(weight, "w")],
    )
    path = tmp_path / "sum.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    x = np.random.default_rng(1).normal(size=(64, 4096)).astype(np.float32)
    truth = x.astype(np.float64) @ weight.astype(np.float64)
    errors = [
        float(np.abs(PlainNumpy().lower(path, flow).run({"x": x})["y"] - truth).max()) for flow in PlainNumpy.flows
    ]
    assert errors[1] < errors[0]


def test_a_folder_without_a_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="no program"):
        PlainNumpy().load(tmp_path, Flow("plain-numpy", "plain-numpy"))

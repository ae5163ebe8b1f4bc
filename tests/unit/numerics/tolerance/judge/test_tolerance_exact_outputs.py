"""What is told of whole numbers that differ."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs


def test_large_whole_numbers_that_differ_are_told_to_their_last_digit(tmp_path: Path) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.INT64, [2]) for name in ("x", "y")]
    node = helper.make_node("Add", ["x", "large"], ["y"])
    large = numpy_helper.from_array(np.asarray([2**41, 5], np.int64), "large")
    graph = helper.make_graph([node], "add", values[:1], values[1:], [large])
    path = tmp_path / "add.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    x = np.asarray([1, 2], np.int64)
    profile = derive(path, [{"x": x}], "float32")
    judged = judge_outputs([{"y": np.asarray([2**41 + 2, 7], np.int64)}], None, profile)["y"]
    assert "expected 2199023255553, got 2199023255554" in finding_text(judged.findings[0])

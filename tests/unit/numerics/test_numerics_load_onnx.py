"""External data whose entry states no length: onnx takes all that follows in the file, and the standard what the tensor needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.numerics.load_onnx import load_onnx


def test_a_tensor_takes_what_its_type_and_shape_need(tmp_path: Path) -> None:
    values = np.arange(8, dtype=np.float32)
    (tmp_path / "w.bin").write_bytes(values.tobytes())
    tensors = []
    for name, offset in (("first", 0), ("second", 16)):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="w.bin")
        tensor.external_data.add(key="offset", value=str(offset))
        tensors.append(tensor)
    graph = helper.make_graph([helper.make_node("Add", ["first", "second"], ["y"])], "g", [], [], tensors)
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(ValueError, match="reshape"):
        numpy_helper.to_array(onnx.load(tmp_path / "model.onnx").graph.initializer[0])
    first, second = map(numpy_helper.to_array, load_onnx(tmp_path / "model.onnx").graph.initializer)
    assert np.array_equal(np.concatenate([first, second]), values)

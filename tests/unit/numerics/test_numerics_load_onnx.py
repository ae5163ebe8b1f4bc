"""External data whose entry states no length: onnx takes all that follows in the file, and the standard what the tensor needs; and
sparse weights, which onnx's evaluator does not take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import SparseTensorProto, TensorProto, helper, numpy_helper

from assay.backends.onnx_reference import Reference
from assay.core.flow import Flow
from assay.errors import InvalidModel, Unsupported
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


def _sparse(name: str, places: list[int] | list[list[int]]) -> SparseTensorProto:
    values = helper.make_tensor(name, TensorProto.FLOAT, [2], [3.0, -2.0])
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(places, np.int64), "places"), [2, 3])


@pytest.mark.parametrize("places", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_weights_come_as_the_dense_ones_that_they_stand_for(
    places: list[int] | list[list[int]], tmp_path: Path
) -> None:
    nodes = [
        helper.make_node("Constant", [], ["constant"], sparse_value=_sparse("", places)),
        helper.make_node("Add", ["x", "stored"], ["sum"]),
        helper.make_node("Add", ["sum", "constant"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "sparse", [x], [y], sparse_initializer=[_sparse("stored", places)])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "model.onnx")

    engine = Reference().lower(tmp_path / "model.onnx", Flow("reference-f64", "reference", {"precision": "float64"}))

    assert engine.run({"x": np.zeros((2, 3), np.float32)})["y"].tolist() == [[0, 6, 0], [0, 0, -4]]


def _saved(sparse: SparseTensorProto, path: Path) -> Path:
    graph = helper.make_graph([], "sparse", [], [], sparse_initializer=[sparse])
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


def test_external_halves_of_sparse_weights_take_what_their_types_and_shapes_need(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(np.array([1, 5], np.int64).tobytes() + np.array([3, -2, 9], np.float32).tobytes())
    sparse = SparseTensorProto(dims=[2, 3])
    for half, kind, offset in ((sparse.indices, TensorProto.INT64, 0), (sparse.values, TensorProto.FLOAT, 16)):
        half.CopyFrom(TensorProto(name="w", data_type=kind, dims=[2], data_location=TensorProto.EXTERNAL))
        half.external_data.add(key="location", value="w.bin")
        half.external_data.add(key="offset", value=str(offset))

    (dense,) = load_onnx(_saved(sparse, tmp_path / "model.onnx")).graph.initializer

    assert numpy_helper.to_array(dense).tolist() == [[0, 3, 0], [0, 0, -2]]


def test_sparse_weights_that_would_fill_the_memory_are_not_made(tmp_path: Path) -> None:
    sparse = _sparse("w", [1, 5])
    sparse.dims[:] = [4, 2**27]
    with pytest.raises(Unsupported) as raised:
        load_onnx(_saved(sparse, tmp_path / "model.onnx"))
    assert raised.value.note is not None
    assert raised.value.note.code == "sparse_too_large"


@pytest.mark.parametrize("places", [[-1, 1], [1, 6], [[0, 1], [2, 0]], [[0, 1], [0, -1]], [[0], [1]], [1]])
def test_a_sparse_weight_has_its_places_inside_of_it(places: list[int] | list[list[int]], tmp_path: Path) -> None:
    with pytest.raises(InvalidModel) as raised:
        load_onnx(_saved(_sparse("w", places), tmp_path / "model.onnx"))
    assert raised.value.note is not None
    assert raised.value.note.code == "sparse_place_outside"

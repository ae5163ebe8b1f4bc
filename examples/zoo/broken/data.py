"""Broken in its test data sets, or in what the model makes of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from case import broken
from onnx import helper, numpy_helper


def _rewrite(file: Path, change: object) -> None:
    tensor = onnx.load_tensor(file)
    values = change(numpy_helper.to_array(tensor).copy())  # type: ignore[operator]
    file.write_bytes(numpy_helper.from_array(values, tensor.name).SerializeToString())


@broken("golden-of-wrong-value", "one expected output is off by a tenth", "functionality.golden")
def _(folder: Path) -> None:
    def change(values: np.ndarray) -> np.ndarray:
        values.flat[3] += 0.1
        return values

    _rewrite(folder / "test_data_set_0" / "output_0.pb", change)


@broken("golden-of-wrong-dtype", "an expected output is float64 and the model makes float32", "functionality.golden")
def _(folder: Path) -> None:
    _rewrite(folder / "test_data_set_0" / "output_0.pb", lambda values: values.astype(np.float64))


@broken("golden-broadcastable", "an expected output of one row where the model makes more", "functionality.golden")
def _(folder: Path) -> None:
    """All inputs of the set are one image: every row of the output is the same, and broadcasting would hide it."""
    _rewrite(folder / "test_data_set_1" / "input_0.pb", lambda values: np.repeat(values[:1], 3, axis=0))
    _rewrite(folder / "test_data_set_1" / "output_0.pb", lambda values: values[:1])


def _answered(folder: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    """Other inputs, with what the model makes of them as the expected outputs."""
    from onnx.reference import ReferenceEvaluator

    model = ReferenceEvaluator(str(folder / "model.onnx"))
    for data in folder.glob("test_data_set_*"):
        _rewrite(data / "input_0.pb", change)
        (logits,) = model.run(None, {"image": numpy_helper.to_array(onnx.load_tensor(data / "input_0.pb"))})
        _rewrite(data / "output_0.pb", lambda _, logits=logits: logits)


@broken(
    "golden-of-zeros",
    "every test data set is an empty picture, answered rightly",
    "functionality.inputs",
    also=("functionality.golden",),
)
def _(folder: Path) -> None:
    _answered(folder, np.zeros_like)


@broken("golden-of-one-sample", "all test data sets together hold one picture", "functionality.inputs")
def _(folder: Path) -> None:
    shutil.rmtree(folder / "test_data_set_1")


@broken(
    "declared-shape-computed", "10 logits are declared and 9 come out, which no inference knows", "functionality.golden"
)
def _(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    model.graph.initializer.append(numpy_helper.from_array(np.arange(10) < 9, "kept"))
    last = model.graph.node[-1]
    last.output[0] = "all"
    model.graph.node.append(helper.make_node("Compress", ["all", "kept"], ["logits"], name="nine", axis=1))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    _answered(folder, lambda values: values)


@broken("golden-with-nan", "an expected output is not a number", "functionality.golden")
def _(folder: Path) -> None:
    def change(values: np.ndarray) -> np.ndarray:
        values.flat[3] = np.nan
        return values

    _rewrite(folder / "test_data_set_0" / "output_0.pb", change)


@broken(
    "one-input-too-many",
    "a data set has two inputs and the model reads one",
    "artifacts.samples",
)
def _(folder: Path) -> None:
    data = folder / "test_data_set_0"
    shutil.copy(data / "input_0.pb", data / "input_1.pb")


@broken("batch-is-not-free", "a batch that is declared free and works at one size only", "functionality.dynamic-batch")
def _(folder: Path) -> None:
    """A Reshape to one row: right for a batch of one, which is all that the data sets hold."""
    model = onnx.load(folder / "model.onnx")
    at = next(at for at, node in enumerate(model.graph.node) if node.op_type == "Flatten")
    flatten = model.graph.node[at]
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 128], np.int64), "one_row"))
    reshape = helper.make_node("Reshape", [flatten.input[0], "one_row"], [flatten.output[0]], name="rows")
    model.graph.node.remove(flatten)
    model.graph.node.insert(at, reshape)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for name in ("input_0.pb", "output_0.pb"):
        _rewrite(folder / "test_data_set_1" / name, lambda values: values[:1])

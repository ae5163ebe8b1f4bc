"""A whole submission of the smallest kind: a sum, its notebooks, scripts, test data and readme."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import nbformat
import numpy as np
import onnx
from nbformat.v4 import new_code_cell, new_notebook
from onnx import TensorProto, helper, numpy_helper

from assay_zoo.metadata import Metadata
from assay_zoo.readme import readme_text

METADATA = """\
name = "adder"
version = "1.0"
title = "Adds"
description = "Adds a number to itself."
license = "MIT"
scenario = "sums"
use_cases = ["sums"]
source = "written for a test"
references = ["none"]
contributors = ["the authors of Assay"]
tags = ["sum"]
opset = 17

[[inputs]]
name = "x"
dtype = "float32"
shape = ["n", 2]

[[outputs]]
name = "y"
dtype = "float32"
shape = ["n", 2]

[dataset]
name = "numbers"
source = "counted"
license = "MIT"
preparation = "none"

[accuracy]
metric = "share"
value = 1.0
read = "output:share"
"""
SCENARIO = 'name = "sums"\ntitle = "Sums"\nmetric = "share"\n'


MODEL = """\
import onnxruntime

session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
x = preprocess(np.arange(4, dtype=np.float32).reshape(2, 2))
print("share =", float((session.run(None, {"x": x})[0] == x + x).mean()))"""


def make_zoo(root: Path) -> Path:
    """A zoo with one scenario and one whole submission, `submissions/adder`; returns the folder of the submission."""
    (root / "scenarios").mkdir(parents=True)
    (root / "zoo.toml").write_text('name = "a zoo"\n')
    (root / "scenarios" / "sums.toml").write_text(SCENARIO)
    folder = root / "submissions" / "adder"
    write_submission(folder)
    return folder


def write_submission(folder: Path) -> None:
    """`folder` must not exist."""
    folder.mkdir(parents=True)
    (folder / "metadata.toml").write_text(METADATA)
    (folder / "README.md").write_text(readme_text(Metadata.model_validate(tomllib.loads(METADATA))))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "model.onnx")
    data = folder / "test_data_set_0"
    data.mkdir()
    value = np.arange(4, dtype=np.float32).reshape(2, 2)
    for name, array in (("input_0", value), ("output_0", value + value)):
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
    (folder / "preprocess.py").write_text("import numpy as np\n\n\ndef preprocess(x):\n    return np.asarray(x)\n")
    (folder / "postprocess.py").write_text("def postprocess(y):\n    return y\n")
    for name in ("inference", "validation"):
        cells = [
            new_code_cell("from preprocess import preprocess\nimport numpy as np", id="a"),
            new_code_cell(MODEL, id="b"),
        ]
        nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")


def matmul(path: Path, seed: int, names: str, change: Callable[[np.ndarray], np.ndarray] = np.asarray) -> None:
    """A model of 16 numbers, whose weights are those of `seed`, changed."""
    weights = change(np.random.default_rng(seed).normal(size=(16, 16)).astype(np.float32))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16]) for name in ("x", "y"))
    node = helper.make_node("MatMul", ["x", f"w{names}"], ["y"], name=names)
    graph = helper.make_graph([node], names, [x], [y], [numpy_helper.from_array(weights, f"w{names}")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

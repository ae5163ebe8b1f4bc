"""ncnn 1.0.20261020: what has no elements ends the process, whatever the operator.

Expected: no elements, as the shape of the model says. Got: SIGSEGV in `extract`, of Softplus, Relu, Abs, Sigmoid, Neg and Tanh alike; with
three elements all are right. Found by `assay fuzz --flow ncnn-f32 --seed 291305` (generator equalities). Each runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

import ncnn
import numpy as np
import onnx
import pnnx
from onnx import TensorProto, helper

OPERATORS = ("Softplus", "Relu", "Neg")


def run(operator: str, size: int) -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name in "xy")
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "one", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/model.onnx")
        subprocess.run([pnnx.EXEC_PATH, "model.onnx"], cwd=folder, capture_output=True, check=True)
        net = ncnn.Net()
        net.load_param(f"{folder}/model.ncnn.param")
        net.load_model(f"{folder}/model.ncnn.bin")
    with net.create_extractor() as extractor:
        extractor.input("in0", ncnn.Mat(np.zeros(size, np.float32)).clone())
        assert np.array(extractor.extract("out0")[1]).size == size


if len(sys.argv) > 1:
    run(sys.argv[1], int(sys.argv[2]))
    sys.exit(0)
wrong = False
for operator in OPERATORS:
    for size in (3, 0):
        done = subprocess.run([sys.executable, __file__, operator, str(size)], capture_output=True, check=False)
        print(f"{operator} of {size} elements: exit code {done.returncode}, expected 0")
        wrong |= done.returncode != 0
sys.exit(int(wrong))

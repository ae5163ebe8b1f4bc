"""ONNX Runtime 1.31.1, CPU: GRU of no steps or no samples, and LSTM of no samples, kill the process.

Expected: answers of no elements, as RNN gives for both and LSTM for no steps; the last state is the first one. Got: SIGABRT ("terminate
called without an active exception"), with one thread, too. A service whose batch or sequence length is symbolic gets such an input from an
empty text. Found by `assay fuzz --flow onnxruntime` (generator used-engines, seed 2: an axis of none in a second call).
"""

from __future__ import annotations

import subprocess
import sys

RUN = """
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

gates, shape = {gates}, {shape}
graph = helper.make_graph(
    [helper.make_node("{operator}", ["x", "w", "r"], ["y"], hidden_size=1)],
    "recurrent",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["length", "batch", 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [numpy_helper.from_array(np.ones((1, gates, 1), np.float32), name) for name in ("w", "r")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(model.SerializeToString(), options)
print("{operator} of", shape, "gives", session.run(None, {{"x": np.zeros(shape, np.float32)}})[0].shape)
"""

killed = 0
for operator, gates in (("RNN", 1), ("LSTM", 4), ("GRU", 3)):
    for shape in ((0, 2, 1), (2, 0, 1)):
        run = RUN.format(operator=operator, gates=gates, shape=shape)
        ended = subprocess.run([sys.executable, "-c", run], check=False, stderr=subprocess.DEVNULL)
        if ended.returncode:
            print(f"{operator} of {shape}: WRONG, ended by signal {-ended.returncode}")
        killed += ended.returncode < 0
sys.exit(int(killed > 0))

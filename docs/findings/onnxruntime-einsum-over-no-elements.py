"""ONNX Runtime 1.31.1, CPU: an Einsum that sums over an axis of no elements kills the process (SIGFPE).

Expected: a sum over nothing, 0 in each element. Got: SIGFPE, as in 1.19.2, where it was found by `assay fuzz --flow onnxruntime@1.19.2`
(generator used-engines, seed 4242: an axis of none in a second call).
"""

from __future__ import annotations

import subprocess
import sys

MODEL = """<ir_version: 7, opset_import: ["" : 13]>
g (float[3, k] x, float[5, k] z) => (float[3, 5] y) { y = Einsum <equation = "ij,kj->ik"> (x, z) }"""
RUN = """
import sys
import numpy as np
import onnx
import onnxruntime

model = onnx.parser.parse_model(sys.argv[1])
session = onnxruntime.InferenceSession(model.SerializeToString())
(answer,) = session.run(None, {"x": np.zeros((3, 0), np.float32), "z": np.zeros((5, 0), np.float32)})
print("onnxruntime", onnxruntime.__version__, "gives", answer.shape, "of", np.unique(answer).tolist())
"""
ended = subprocess.run([sys.executable, "-c", RUN, MODEL], capture_output=True, text=True, check=False)
why = f"WRONG, ended by signal {-ended.returncode}" if ended.returncode < 0 else ended.stderr.strip()
print(ended.stdout.strip() or why)
sys.exit(int(ended.returncode < 0))

"""ONNX Runtime 1.19.2, CPU: a OneHot of no indices kills the process (SIGFPE).

Expected: by the standard "the rank of the output tensor will be one greater than the rank of the input tensor", the axis of `depth`
beside it: an answer of no elements, [0, 3] here. Got: SIGFPE. 1.26.0 is the last with it, 1.27.0 is right. Found by
`assay fuzz --flow onnxruntime@1.19.2` (generator used-engines, seed 4242: an axis of none in a second call).
"""

from __future__ import annotations

import subprocess
import sys

MODEL = """<ir_version: 7, opset_import: ["" : 13]>
g (int64[n] x) => (float[n, 3] y) <int64 d = {3}, float[2] v = {0, 1}> { y = OneHot (x, d, v) }"""
RUN = """
import sys
import numpy as np
import onnx
import onnxruntime

model = onnx.parser.parse_model(sys.argv[1])
session = onnxruntime.InferenceSession(model.SerializeToString())
(answer,) = session.run(None, {"x": np.zeros(0, np.int64)})
print("onnxruntime", onnxruntime.__version__, "gives", answer.shape)
"""
ended = subprocess.run([sys.executable, "-c", RUN, MODEL], capture_output=True, text=True, check=False)
why = f"WRONG, ended by signal {-ended.returncode}" if ended.returncode < 0 else ended.stderr.strip()
print(ended.stdout.strip() or why)
sys.exit(int(ended.returncode < 0))

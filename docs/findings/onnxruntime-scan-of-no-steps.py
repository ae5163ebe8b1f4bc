"""ONNX Runtime 1.31.1, CPU: a Scan along the second axis, which has no elements, kills the process (SIGFPE).

Expected: no step, so that the state is the initial one and the scanned output has no elements. Got: SIGFPE. Along the first axis it is an
error ("Invalid dim0_offset of 0"). Found by `assay fuzz --flow onnxruntime --seed 291931` (generator used-engines, an axis of none in a
second call).
"""

from __future__ import annotations

import subprocess
import sys

MODEL = """<ir_version: 8, opset_import: ["" : 16]>
g (float[3] state, float[3, n] x) => (float[3] last, float[n, 3] kept) {
  last, kept = Scan <num_scan_inputs = 1, scan_input_axes = [1],
    body = step (float[3] a, float[3] b) => (float[3] c, float[3] d) { c = Sub (a, b) d = Neg (b) }>
    (state, x)
}"""
RUN = """
import sys
import numpy as np
import onnx
import onnxruntime

model = onnx.parser.parse_model(sys.argv[1])
session = onnxruntime.InferenceSession(model.SerializeToString())
last, kept = session.run(None, {"state": np.ones(3, np.float32), "x": np.zeros((3, int(sys.argv[2])), np.float32)})
print("onnxruntime", onnxruntime.__version__, "gives", last.tolist(), "and", kept.shape)
"""
ended = 0
for steps in (1, 0):
    done = subprocess.run([sys.executable, "-c", RUN, MODEL, str(steps)], capture_output=True, text=True, check=False)
    ended = done.returncode
    print(
        f"{steps} steps:",
        done.stdout.strip() or (f"WRONG, ended by signal {-ended}" if ended < 0 else done.stderr.strip()),
    )
sys.exit(int(ended < 0))

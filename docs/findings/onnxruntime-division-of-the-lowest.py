"""ONNX Runtime 1.31.1, CPU: dividing the lowest int32 or int64 by -1 kills the process (SIGFPE).

Expected: an error, or the wrapped quotient (numpy: -2147483648). Got: signal 8. Found by
`assay run edge --flow onnxruntime --filter 'Div-lowest-by-minus-one-*'`. The division runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

if len(sys.argv) > 1:
    kind = TensorProto.INT32
    graph = helper.make_graph(
        [helper.make_node("Div", ["x", "z"], ["y"])],
        "one",
        [helper.make_tensor_value_info(name, kind, [2]) for name in ("x", "z")],
        [helper.make_tensor_value_info("y", kind, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    print(session.run(None, {"x": np.array([-(2**31), 6], np.int32), "z": np.array([-1, -1], np.int32)})[0])
    sys.exit()
done = subprocess.run([sys.executable, __file__, "divide"], capture_output=True, text=True, check=False)
got = f"killed by signal {-done.returncode}" if done.returncode < 0 else done.stdout.strip() or "an error"
print(f"onnxruntime {onnxruntime.__version__}: [-2147483648, 6] / -1: {got}")
sys.exit(1 if done.returncode < 0 else 0)

"""ONNX Runtime 1.31.1, CPU on x86: a float16 MatMul behind a Transpose of its leading axes: creating the session dies of SIGSEGV.

Expected: the product, as without the last level of optimisation, and as in float32. Got: SIGSEGV at ORT_ENABLE_ALL, the default. Found by
`assay check` of a tagger of words (two GRUs, then a Transpose of [1, 0, 2] and a projection) in the flow onnxruntime-fp16.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

X = np.random.default_rng(0).standard_normal((5, 2, 8))
W = np.random.default_rng(1).standard_normal((8, 3))


def product(element: int, perm: list[int], level: str) -> float:
    """How far it is from numpy's."""
    kind = helper.tensor_dtype_to_np_dtype(element)
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=perm),
        helper.make_node("MatMul", ["t", "w"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, X.shape)],
        [helper.make_tensor_value_info("y", element, None)],
        [numpy_helper.from_array(W.astype(kind), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": X.astype(kind)})
    return float(np.abs(y - X.transpose(perm) @ W).max())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(f"off by {product(int(sys.argv[1]), [int(axis) for axis in sys.argv[2]], sys.argv[3]):.1e}")
        sys.exit()
    killed = 0
    for element, name in ((TensorProto.FLOAT, "float32"), (TensorProto.FLOAT16, "float16")):
        for perm, level in (("102", "ORT_ENABLE_ALL"), ("102", "ORT_ENABLE_EXTENDED"), ("012", "ORT_ENABLE_ALL")):
            command = [sys.executable, __file__, str(element), perm, level]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            ending = ended.stdout.strip() if ended.returncode == 0 else f"ended with {ended.returncode}"
            print(f"{name:8} perm {perm} {level:20} {ending}")
            killed += ended.returncode < 0
    sys.exit(int(killed > 0))

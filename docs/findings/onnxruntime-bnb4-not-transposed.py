"""ONNX Runtime 1.31.1, CPU: MatMulBnb4 with transB=0 computes A B^T, as with transB=1.

Expected (ContribOperators.md): with transB=0, A of (rows, N) times B of (N, K) as it is stored. Got: the product with B transposed where N
is K, and elsewhere numbers that depend on what lies behind A in memory. Found by the table of the oracle's contrib operators.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

BLOCK, EIGHTH = 16, 0x99  # two numbers a byte, both the ninth of NF4's
TABLE = np.float32(0.16093020141124725)


def product(size: int, transposed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of ONNX Runtime, and of numpy with B as it is stored and transposed: the scales of the blocks make the rows of B differ."""
    random = np.random.default_rng(0)
    a = random.standard_normal((2, size)).astype(np.float32)
    packed = np.full(size * size // 2, EIGHTH, np.uint8)
    scales = random.standard_normal(size * size // BLOCK).astype(np.float32)
    b = (TABLE * np.repeat(scales, BLOCK)).reshape(size, size)
    sizes = {"K": size, "N": size, "block_size": BLOCK, "quant_type": 1, "transB": transposed}
    node = helper.make_node("MatMulBnb4", ["a", "b", "s"], ["y"], domain="com.microsoft", **sizes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, a.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(packed, "b"), numpy_helper.from_array(scales, "s")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"a": a})[0], a @ b, a @ b.T


if __name__ == "__main__":
    wrong = 0
    for transposed in (1, 0):
        result, stored, turned = product(32, transposed)
        off, off_turned = np.abs(result - stored).max(), np.abs(result - turned).max()
        print(f"transB={transposed}: off A B by {off:.1e}, A B^T by {off_turned:.1e}")
        wrong += bool((off_turned if transposed else off) > 1e-3)
    sys.exit(int(wrong > 0))

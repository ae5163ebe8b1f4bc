"""TVM 0.27.0.post1, llvm: TopK of opset 10 gives one element, and a shape equals no tensor.

Expected: since opset 10 the second input of TopK says how many. Got: one element of each row, as where nothing says it; in opset 11 the
same graph is right. Expected: Equal of `Shape (x)` and of a tensor compares numbers. Got: false, though both are 3; of two shapes it is
right. Found by `assay fuzz --flow tvm-llvm --seed 293041` (generators random-graphs and equal-models).
"""

from __future__ import annotations

import sys

import numpy as np
import tvm
from onnx import parser
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

PASSES = [relax.transform.DecomposeOpsForInference(), relax.get_pipeline("zero")]


def answer(opset: int, graph: str, x: np.ndarray) -> np.ndarray:
    """The first output."""
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> one {graph}')
    with tvm.target.Target("llvm") as target:
        executable = tvm.compile(tvm.transform.Sequential(PASSES)(from_onnx(model)), target=target)
    given = relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(x))
    return (given[0] if len(model.graph.output) > 1 else given).numpy()


TOP = "(float[2,3] x) => (float[2,2] y, int64[2,2] i) <int64[1] k = {2}> { y, i = TopK (x, k) }"
SHAPE = "(float[2,3,4] x) => (bool[1] y) <int64[1] c = {3}> { s = Shape <start = 1, end = 2> (x)  y = Equal (s, c) }"
row = np.float32([[1, 5, 2], [3, 2, 9]])
wrong = 0
for name, opset, graph, x, due in (
    ("TopK of opset 11", 11, TOP, row, [[5, 2], [9, 3]]),
    ("TopK of opset 10", 10, TOP, row, [[5, 2], [9, 3]]),
    ("Equal of a shape and a tensor", 15, SHAPE, np.zeros((2, 3, 4), np.float32), [True]),
):
    got = answer(opset, graph, x).tolist()
    print(f"{name}: {got}, due {due}{'' if got == due else '  WRONG'}")
    wrong += got != due
sys.exit(int(wrong > 0))

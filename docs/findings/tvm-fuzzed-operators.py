"""TVM 0.27.0.post1, read from ONNX: Clip of opset 6 answers float16 with float32, and SpaceToDepth in mode CRD is answered as DCR.

Expected, by the standard: the output of Clip-6 is of type T, as its input; SpaceToDepth-28 in mode CRD puts what lies at (i, j) of each
block of channel c into channel c * b * b + i * b + j. Got: float32, with the right numbers (Clip of opset 11 and later, whose ends are
inputs, keeps the type); channel (i * b + j) * C + c, without a word.

The first was found by `assay fuzz --flow tvm-llvm` (generator sweep), the second by the case of another backend in the suite `regressions`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tvm
from onnx import helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def answer(node: Any, x: Any, shape: list[int], opset: int) -> Any:
    """What TVM makes of one node."""
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info("y", element, shape)],
    )
    module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10))
    passes = [relax.transform.DecomposeOpsForInference(), relax.get_pipeline("zero")]
    with tvm.target.Target("llvm") as target:
        compiled = tvm.compile(tvm.transform.Sequential(passes)(module), target=target)
    return relax.VirtualMachine(compiled, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()


x = np.asarray([-3, -0.5, 0.25, 2.5], np.float16)
given = answer(helper.make_node("Clip", ["x"], ["y"], min=-1.0, max=1.0), x, [4], 6)
print(f"Clip: {given.tolist()} of {given.dtype}, expected {np.clip(x, -1, 1).tolist()} of {x.dtype}")
wrong = given.dtype != x.dtype

y = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)
moved = y.reshape(2, 1, 2, 2, 2).transpose(0, 2, 4, 1, 3).reshape(8, 1, 2)  # c y i x j to c i j y x
given = answer(helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="CRD"), y, [1, 8, 1, 2], 28)[0]
print(f"SpaceToDepth, second channel: {given[1].ravel().tolist()}, expected {moved[1].ravel().tolist()}")
sys.exit(int(wrong or not np.array_equal(given, moved)))

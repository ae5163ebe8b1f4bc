"""TVM 0.27.0.post1, llvm, read from ONNX: attributes are dropped, and a type is not kept, one operator each, without a word.

Expected, by the standard:

* Clip-6: the output is of type T, as its input. Got: float32 of float16 (with ends that are inputs, from opset 11 on, the type is kept).
* SpaceToDepth-28 in mode CRD: what lies at (i, j) of each block of channel c is channel c * b * b + i * b + j. Got: the order of mode DCR.
* ConvTranspose-11 with output_shape: "pads values are auto generated". Got: none, and two elements more in each direction.
* AveragePool-19 with auto_pad SAME: an output as long as its input, whatever the dilation. Got: a shorter one.
* Resize-18 with antialias: a filter as wide as what one new element covers. Got: the two neighbours.
* ReduceL1-18 and ReduceLogSum-18 with noop_with_empty_axes: "composite-reduction operators will still perform the non-reduction steps".
  Got: the input.
* OneHot-11: "the type of the output tensor is the same as the type of the `values` input". Got: float64 of float32, with the right numbers.
* Dropout-10 to -22: "mask: T2", which is bool. Got: float32 ones.
* LayerNormalization-17: the mean, its second output, for each row. Got: one number, 0.
* ScatterElements-18 of three axes: "for each entry in updates, the target index in data is obtained by combining the corresponding entry
  in indices with the index of the entry itself". Got: where there are fewer indices than numbers along the second and third axis, the
  update at [0, 0, 1] lands where none belongs: positions are counted as if data were as wide as the updates.

Clip, ConvTranspose, LayerNormalization, Dropout and ScatterElements were found by `assay fuzz --flow tvm-llvm`
(generators sweep, equalities, patterns, near-misses, operator-pairs and random-graphs), the others by cases of other backends in the
suite `regressions`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tvm
from onnx import helper, numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def answer(operator: str, opset: int, x: Any, expected: Any, constants: Any, attributes: Any) -> Any:
    """What TVM makes of one node; an unnamed constant is an input that is left out."""
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), tensor.shape)
        for name, tensor in (("x", x), ("y", expected))
    ]
    held = [numpy_helper.from_array(array, name) for name, array in constants.items() if name]
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", *constants], [*BEFORE.get(operator, ()), "y"], **attributes)],
        "one", ends[:1], ends[1:], held,
    )  # fmt: skip
    module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10))
    passes = [relax.transform.DecomposeOpsForInference(), relax.get_pipeline("zero")]
    with tvm.target.Target("llvm") as target:
        compiled = tvm.compile(tvm.transform.Sequential(passes)(module), target=target)
    return relax.VirtualMachine(compiled, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()


BEFORE = {"LayerNormalization": ["first"], "Dropout": ["first"]}
"""Outputs before the one that is looked at."""
halves = np.float16([-3, -0.5, 0.25, 2.5])
image = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
wide = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)
blocks = wide.reshape(2, 1, 2, 2, 2).transpose(0, 2, 4, 1, 3).reshape(1, 8, 1, 2)  # c y i x j to c i j y x
middle = np.pad(np.ones((1, 1, 1, 1), np.float32), ((0, 0), (0, 0), (1, 1), (1, 1)))
line = np.float32([[[0, 3, 0, 6, 0, 3, 0]]])
means = np.float32([[[0, 4.5, 0, 4, 0, 4.5, 0]]])
peak = np.zeros((1, 1, 1, 8), np.float32)
peak[..., 3] = 8
"""Of a filter twice as wide the elements at 0.5 and 1.5 from the middle weigh 3/8 and 1/8."""
narrow = np.float32([0, 3, 1, 0]).reshape(1, 1, 1, 4)
scattered = np.zeros((3, 3, 3), np.float32)
scattered[1, :2, :2] = [[1, 2], [3, 4]]
SCATTER = {"i": np.ones((1, 2, 2), np.int64), "u": np.float32([[[1, 2], [3, 4]]])}
CASES: tuple[tuple[str, int, Any, Any, dict[str, Any], dict[str, Any]], ...] = (
    ("Clip", 6, halves, np.clip(halves, -1, 1), {}, {"min": -1.0, "max": 1.0}),
    ("SpaceToDepth", 28, wide, blocks, {}, {"blocksize": 2, "mode": "CRD"}),
    ("ConvTranspose", 11, image, image, {"w": middle}, {"output_shape": [4, 4]}),
    ("AveragePool", 19, line, means, {}, {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_UPPER"}),
    ("Resize", 18, peak, narrow, {"": None, "s": np.float32([1, 1, 1, 0.5])}, {"mode": "linear", "antialias": 1}),
    ("ScatterElements", 18, np.zeros((3, 3, 3), np.float32), scattered, SCATTER, {"axis": 0, "reduction": "add"}),
    ("ReduceL1", 18, np.float32([-2, 3]), np.float32([2, 3]), {}, {"noop_with_empty_axes": 1}),
    ("ReduceLogSum", 18, np.float32([1, np.e]), np.float32([0, 1]), {}, {"noop_with_empty_axes": 1}),
    ("LayerNormalization", 17, np.float32([[1, 3], [5, 7]]), np.float32([[2], [6]]), {"scale": np.ones(2, np.float32)}, {}),
    ("Dropout", 13, np.float32([1, 2]), np.array([True, True]), {}, {}),
    ("OneHot", 11, np.int32([-1, 1]), np.eye(3, dtype=np.float32)[[2, 1]], {"d": np.array(3), "v": np.float32([0, 1])}, {}),
)  # fmt: skip

wrong = 0
for operator, opset, x, expected, constants, attributes in CASES:
    given = answer(operator, opset, x, expected, constants, attributes)
    same = given.dtype == expected.dtype and given.shape == expected.shape and np.allclose(given, expected, atol=1e-3)
    wrong += not same
    print(f"{operator}: {given.dtype} {given.shape} {given.ravel()[:8].tolist()}, expected {expected.dtype} {expected.shape} "
          f"{expected.ravel()[:8].tolist()}{'' if same else '  WRONG'}")  # fmt: skip
sys.exit(int(wrong > 0))

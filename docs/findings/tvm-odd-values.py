"""TVM 0.27.0.post1, llvm, read from ONNX: NaN, -0, infinities and sizes of nothing answered wrongly, indices outside answered at all.

Expected: IEEE 754 (a NaN stays one, tanh(-0) is -0, tanh of a subnormal number is that number, a maximum of -inf is -inf), what ONNX
specifies of reductions of nothing, an error where an index lies outside or a size is past int64, and no crash. Got: what it prints; a
division of whole numbers by 0 ends with SIGFPE, a size whose product wraps around with SIGSEGV: too little is allocated, and then written
to the end. Found by `assay run edge --flow tvm-llvm`.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import tvm
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

Array = np.ndarray[Any, Any]
NAN, INF = np.float32("nan"), np.float32("inf")
ZERO = helper.make_tensor("zero", TensorProto.INT64, [1], [0])
NOTHING = np.zeros((2, 0), np.float32)
CONSTANTS = ("axes", "k", "from", "to")
ROW, FIRST = np.float32([5, 6, 7]), {"keepdims": 0}
CASES: dict[str, tuple[str, dict[str, Array], dict[str, Any], str]] = {
    "Elu of NaN": ("Elu", {"x": np.float32([NAN])}, {}, "[nan]"),
    "Selu of NaN": ("Selu", {"x": np.float32([NAN])}, {}, "[nan]"),
    "1 / Tanh(-0)": ("Tanh", {"x": np.float32([-0.0])}, {"seen": "Reciprocal"}, "[-inf]"),
    "1 / Atanh(-0)": ("Atanh", {"x": np.float32([-0.0])}, {"seen": "Reciprocal"}, "[-inf]"),
    "Tanh of 1e-40": ("Tanh", {"x": np.float32([1e-40])}, {}, "[1.e-40]"),
    "ReduceLogSumExp of inf": ("ReduceLogSumExp", {"x": np.float32([INF, 1])}, FIRST, "inf"),
    "ReduceMax of -inf": ("ReduceMax", {"x": np.float32([-INF, -INF])}, FIRST, "-inf"),
    "ReduceMin of inf": ("ReduceMin", {"x": np.float32([INF, INF])}, FIRST, "inf"),
    "ReduceProd of nothing": ("ReduceProd", {"x": NOTHING, "axes": np.int64([1])}, FIRST, "[1. 1.]"),
    "ReduceSum of nothing": ("ReduceSum", {"x": NOTHING, "axes": np.int64([1])}, FIRST, "[0. 0.]"),
    "MatMul over nothing": ("MatMul", {"x": NOTHING, "z": NOTHING.T}, {}, "[[0. 0.] [0. 0.]]"),
    "TopK of 0 of 3": ("TopK", {"x": ROW, "k": np.int64([0])}, {"second": True}, "[]"),
    "Slice from 2 to 1": ("Slice", {"x": ROW, "from": np.int64([2]), "to": np.int64([1])}, {}, "[]"),
    "Gather at 9 of 3": ("Gather", {"x": ROW, "i": np.int64([9])}, {}, "an error"),
    "ScatterElements at 9 of 3": ("ScatterElements", {"x": ROW, "i": np.int64([9]), "u": np.float32([1])}, {}, "an error"),
    "ConstantOfShape of 2**62 x 3": ("ConstantOfShape", {"x": np.int64([2**62, 3])}, {"value": ZERO}, "an error"),
    "Div of int32 by 0": ("Div", {"x": np.int32([7]), "z": np.int32([0])}, {}, "anything but a crash"),
}  # fmt: skip


def answer(kind: str, fed: dict[str, Array], attributes: dict[str, Any]) -> Array:
    attributes = dict(attributes)
    seen = attributes.pop("seen", "Identity")
    made = ["inner", "second"] if attributes.pop("second", False) else ["inner"]
    nodes = [helper.make_node(kind, list(fed), made, **attributes), helper.make_node(seen, ["inner"], ["y"])]
    constants = [helper.make_tensor(k, TensorProto.INT64, v.shape, v) for k, v in fed.items() if k in CONSTANTS]
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in fed.items()}
    inputs = [helper.make_tensor_value_info(k, types[k], v.shape) for k, v in fed.items() if k not in CONSTANTS]
    out = helper.make_tensor_value_info("y", types[next(iter(fed))], None)
    graph = helper.make_graph(nodes, "one", inputs, [out], constants)
    module = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))
    passes = [relax.transform.DecomposeOpsForInference(), relax.get_pipeline("zero")]
    with tvm.target.Target("llvm") as target:
        compiled = tvm.compile(tvm.transform.Sequential(passes)(module), target=target)
    machine = relax.VirtualMachine(compiled, tvm.cpu())
    return np.array(
        machine["main"](*(tvm.runtime.tensor(array) for k, array in fed.items() if k not in CONSTANTS)).numpy()
    )


def main() -> int:
    wrong = 0
    print("tvm", tvm.__version__)
    for what, (_, _, _, expected) in CASES.items():
        done = subprocess.run([sys.executable, __file__, what], capture_output=True, text=True, check=False)
        answers = [line.removeprefix("answer ") for line in done.stdout.splitlines() if line.startswith("answer ")]
        got = answers[0] if answers else f"exit code {done.returncode}"
        right = got == expected or (
            done.returncode == 1 if expected == "an error" else expected[0] == "a" and done.returncode >= 0
        )
        print(f"{what}: {got}, expected {expected}: {'right' if right else 'wrong'}")
        wrong += not right
    return int(wrong > 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        kind, fed, attributes, _ = CASES[sys.argv[1]]
        print("answer", str(answer(kind, fed, attributes)).replace("\n", ""))
    else:
        sys.exit(main())

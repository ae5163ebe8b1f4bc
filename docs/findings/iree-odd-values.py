"""IREE 3.13.0, llvm-cpu, read from ONNX: -0, NaN and subnormal numbers answered wrongly, indices outside answered or fatal.

Expected: IEEE 754 and C's annex F (asinh(-inf) is -inf, 1 ** NaN is 1, 1 mod inf is 1, a NaN is not clipped, 1e-40 is not 0), and an error
where an index lies outside. Got: what it prints; a product over nothing kills iree-compile (SIGFPE), scattering before the
beginning kills the process. Found by `assay run edge --flow iree-llvm-cpu`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, save

from assay.backends.iree.backend import IREE
from assay.core.flow import Flow
from assay.errors import Lowering

Array = np.ndarray[Any, Any]
NAN, INF = np.float32("nan"), np.float32("inf")
ROW, TINY = np.float32([5, 6, 7]), np.float32([1e-40])
ONE = np.float32([1])
CASES: dict[str, tuple[str, dict[str, Array], dict[str, Any], str]] = {
    **{f"1 / {operator}(-0)": (operator, {"x": np.float32([-0.0])}, {"seen": "Reciprocal"}, "[-inf]")
       for operator in ("Sin", "Tan", "Sinh", "Asinh", "Atanh", "Erf")},
    "Asinh of -inf": ("Asinh", {"x": np.float32([-INF])}, {}, "[-inf]"),
    "1 ** NaN": ("Pow", {"x": ONE, "z": np.float32([NAN])}, {}, "[1.]"),
    "1 mod inf": ("Mod", {"x": ONE, "z": np.float32([INF])}, {"fmod": 1}, "[1.]"),
    "Clip of NaN": ("Clip", {"x": np.float32([NAN]), "low": np.float32(-1), "high": np.float32(1)}, {}, "[nan]"),
    "1e-40 * 1e30": ("Mul", {"x": TINY, "z": np.float32([1e30])}, {}, "[1.e-10]"),
    "1e-40 + 2e-40": ("Add", {"x": TINY, "z": np.float32([2e-40])}, {}, "[3.e-40]"),
    "ReduceLogSumExp of 1000, 1000": ("ReduceLogSumExp", {"x": np.float32([1000, 1000])}, {"keepdims": 0}, "1000.69"),
    "MatMul over nothing": ("MatMul", {"x": np.zeros((2, 0), np.float32), "z": np.zeros((0, 2), np.float32)}, {}, "[[0. 0.]"),
    "Gather at 9 of 3": ("Gather", {"x": ROW, "i": np.int64([9])}, {}, "an error"),
    "ScatterElements at -4 of 3": ("ScatterElements", {"x": ROW, "i": np.int64([-4]), "u": ONE}, {}, "an error"),
}  # fmt: skip


def answer(kind: str, fed: dict[str, Array], attributes: dict[str, Any]) -> Array:
    attributes = dict(attributes)
    seen = attributes.pop("seen", "Identity")
    nodes = [helper.make_node(kind, list(fed), ["inner"], **attributes), helper.make_node(seen, ["inner"], ["y"])]
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in fed.items()}
    fixed = {"low", "high"} & set(fed)
    constants = [helper.make_tensor(k, types[k], fed[k].shape, fed[k].reshape(-1)) for k in sorted(fixed)]
    inputs = [helper.make_tensor_value_info(k, types[k], v.shape) for k, v in fed.items() if k not in fixed]
    shape = {"MatMul": (2, 2), "ReduceLogSumExp": ()}.get(kind, fed["i"].shape if kind == "Gather" else fed["x"].shape)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    model = helper.make_model(
        helper.make_graph(nodes, "one", inputs, [out], constants),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    with tempfile.TemporaryDirectory() as name:
        save(model, Path(name) / "one.onnx")
        engine = IREE().lower(Path(name) / "one.onnx", Flow("iree-llvm-cpu", "iree"))
        return engine.run({k: v for k, v in fed.items() if k not in fixed})["y"]


def one(what: str) -> str:
    kind, fed, attributes, _ = CASES[what]
    try:
        return str(answer(kind, fed, attributes))
    except Lowering as error:
        return f"error: {' '.join(str(error).split())[:50]}"


def alone(what: str) -> str:
    """In a process of its own: it may die."""
    done = subprocess.run([sys.executable, __file__, what], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else f"exit code {done.returncode}"


def main() -> int:
    wrong = 0
    for what, (kind, _, _, expected) in CASES.items():
        got = alone(what) if kind.startswith("Scatter") else one(what)
        right = got.startswith("error") if expected == "an error" else got.startswith(expected)
        print(f"{what}: {got}, expected {expected}: {'right' if right else 'wrong'}")
        wrong += not right
    return int(wrong > 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(one(sys.argv[1]))
    else:
        sys.exit(main())

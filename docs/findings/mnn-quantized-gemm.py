"""MNN 3.6.1: the converter dies of SIGABRT at a Gemm of quantized activations and quantized weights.

Expected: a converted model, or a word on what is not supported. Got: std::out_of_range, "vector::_M_range_check", and the process ends.
Where only one of both is quantized it converts, and a MatMul does either way. Each conversion runs in a process of its own.
Found by `assay check` on an int8 model of a robot's kinematics that a public package ships.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS = np.arange(-6, 6, dtype=np.int8).reshape(4, 3)


def converted(folder: Path, operator: str, quantized: str) -> int:
    """The exit code of the converter, for a product of x and w, each of them behind a grid where `quantized` names it."""
    held = {"q": ROWS, "s": np.float32(0.5), "z": np.int8(0)} | (
        {} if "w" in quantized else {"d": ROWS * np.float32(0.5)}
    )
    grid = ["s", "z"]
    nodes = []
    if "x" in quantized:
        nodes += [
            helper.make_node("QuantizeLinear", ["x", *grid], ["i"]),
            helper.make_node("DequantizeLinear", ["i", *grid], ["a"]),
        ]
    if "w" in quantized:
        nodes.append(helper.make_node("DequantizeLinear", ["q", *grid], ["d"]))
    nodes.append(helper.make_node(operator, ["a" if "x" in quantized else "x", "d"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "quantized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(np.asarray(value), key) for key, value in held.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), folder / "m.onnx")
    program = Path(sysconfig.get_path("scripts")) / "mnnconvert"
    command = [str(program), "-f", "ONNX", "--modelFile", "m.onnx", "--MNNModel", "m.mnn", "--bizCode", "m"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


wrong = 0
with TemporaryDirectory() as name:
    for operator, quantized in (("MatMul", "x and w"), ("Gemm", "x"), ("Gemm", "w"), ("Gemm", "x and w")):
        code = converted(Path(name), operator, quantized)
        print(f"{operator}, quantized: {quantized}: ends with {code}", flush=True)
        wrong += code < 0
sys.exit(int(wrong > 0))

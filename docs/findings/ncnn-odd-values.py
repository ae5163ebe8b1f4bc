"""ncnn 1.0.20261020 behind pnnx 20261020, CPU on x86: NaN, infinity and 1 / 0 answered wrongly, tensors of nothing kill the process.

Expected: what IEEE 754 and C say. Got: 1 / 0 is NaN, exp of 1000, infinity and NaN is 2.4e38, log of 0 is NaN and of NaN -87, tanh of
NaN is -1; whole numbers are added as if their bits were those of a float32. A tensor without elements ends Relu in SIGSEGV and ReduceSum in
SIGFPE. Found by `assay run edge --flow ncnn-f32`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ncnn
import numpy as np
import onnx
import pnnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT32
NAN, INF = float("nan"), float("inf")


def answers(kind: str, given: list[Array]) -> tuple[Any, Any]:
    """Of ncnn, and of the evaluator of ONNX."""
    element = INT if given[0].dtype == np.int32 else FLOAT
    names = ["a", "b"][: len(given)]
    graph = helper.make_graph(
        [helper.make_node(kind, names, ["y"])],
        "one",
        [helper.make_tensor_value_info(name, element, array.shape) for name, array in zip(names, given, strict=True)],
        [helper.make_tensor_value_info("y", element, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    with tempfile.TemporaryDirectory() as name:
        onnx.save(onnx.shape_inference.infer_shapes(model), f"{name}/model.onnx")
        subprocess.run([pnnx.EXEC_PATH, "model.onnx"], cwd=name, capture_output=True, check=True)
        net = ncnn.Net()
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.load_param(str(Path(name) / "model.ncnn.param"))
        net.load_model(str(Path(name) / "model.ncnn.bin"))
        with net.create_extractor() as extractor:
            for index, array in enumerate(given):
                extractor.input(f"in{index}", ncnn.Mat(array).clone())
            got = np.array(extractor.extract("out0")[1])
    return got, ReferenceEvaluator(model).run(None, dict(zip(names, given, strict=True)))[0]


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


if len(sys.argv) > 1:
    answers(sys.argv[1], [np.zeros((0, 3), np.float32)])
    sys.exit(0)
wrong = 0
for kind, given in (
    ("Exp", [floats(1000, NAN, INF)]),
    ("Log", [floats(0, -1, NAN)]),
    ("Tanh", [floats(NAN, INF, -INF)]),
    ("Sigmoid", [floats(NAN, INF, -1000)]),
    ("Reciprocal", [floats(0, INF, 2)]),
    ("Div", [floats(1, -1, INF), floats(0, 0, 1)]),
    ("Add", [np.array([1, 2, 2**31 - 1], np.int32), np.array([1, 1, 1], np.int32)]),
):
    with np.errstate(all="ignore"):
        got, expected = answers(kind, given)
    right = got.dtype == expected.dtype and np.allclose(got, expected, equal_nan=True)
    print(f"{kind} of {[array.tolist() for array in given]}: {got.tolist()}, expected {expected.tolist()}")
    wrong += not right
for kind in ("Relu", "ReduceSum"):
    code = subprocess.run([sys.executable, __file__, kind], capture_output=True).returncode
    print(f"{kind} of nothing: ends with {code}")
    wrong += code < 0
sys.exit(int(wrong > 0))

"""ncnn 1.0.20261020 behind pnnx 20261020: a reduction over one axis reduces nothing.

Expected: ReduceSum, ReduceMean and ReduceL2 of 3x4x5 over its last axis are 3x4. Got: the input itself (squared, its magnitudes ...): since
opset 13 and 18 axes are an input, and pnnx drops a list of one (`-23303=0`); a list of two arrives. RMS normalization and what divides by a
norm are wrong with it. Found by `assay run operators --flow ncnn-f32 --filter '*-float32-smoke-*'`.
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
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def answers(kind: str, axes: list[int], x: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """Of ncnn, and of the evaluator of ONNX."""
    graph = helper.make_graph(
        [helper.make_node(kind, ["x", "axes"], ["y"], keepdims=0)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(axes), "axes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    with tempfile.TemporaryDirectory() as name:
        onnx.save(onnx.shape_inference.infer_shapes(model), f"{name}/model.onnx")
        subprocess.run([pnnx.EXEC_PATH, "model.onnx"], cwd=name, capture_output=True, check=True)
        net = ncnn.Net()
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.load_param(str(Path(name) / "model.ncnn.param"))
        net.load_model(str(Path(name) / "model.ncnn.bin"))
        with net.create_extractor() as extractor:
            extractor.input("in0", ncnn.Mat(x).clone())
            got = np.array(extractor.extract("out0")[1])
    return got, ReferenceEvaluator(model).run(None, {"x": x})[0]


x = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)
wrong = 0
for kind in ("ReduceSum", "ReduceMean", "ReduceL2"):
    for axes in ([-1], [2], [1, 2]):
        got, expected = answers(kind, axes, x)
        right = got.shape == expected.shape and float(np.abs(got - expected).max()) < 1e-4
        print(f"{kind} over {axes}: {'right' if right else f'shape {got.shape} instead of {expected.shape}'}")
        wrong += not right
sys.exit(int(wrong > 0))

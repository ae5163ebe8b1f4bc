"""MNN 3.6.1, CPU: NaN and infinity become numbers, indices outside are answered, and MaxPool without strides kills the process.

Expected: the answers of the evaluator of ONNX, or an error where an index lies outside. Got: what it prints; a pooling without `strides`,
1 by definition, and a division of whole numbers by 0 (Div, Mod) end with SIGFPE. Found by `assay run edge --flow mnn-f32` and `assay fuzz`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Any

import MNN
import numpy as np
import onnx
from onnx import TensorProto, helper

Array = np.ndarray[Any, Any]
CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
KINDS = {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int}
NAN, INF = np.float32("nan"), np.float32("inf")
EIGHT = np.arange(8, dtype=np.float32)
CASES: dict[str, tuple[str, dict[str, Array], dict[str, Any], str]] = {
    "Relu of NaN": ("Relu", {"x": np.full(8, NAN)}, {}, "nan"),
    "Abs of NaN": ("Abs", {"x": np.full(8, NAN)}, {}, "nan"),
    "Exp of infinity": ("Exp", {"x": np.full(8, INF)}, {}, "inf"),
    "Exp of -100": ("Exp", {"x": np.full(8, -100, np.float32)}, {}, "3.8e-44"),
    "Sigmoid of -100": ("Sigmoid", {"x": np.full(8, -100, np.float32)}, {}, "3.8e-44"),
    "Gather at 9 of 8": ("Gather", {"x": EIGHT, "i": np.int32([9])}, {}, "an error"),
    "Div of int32 by 0": ("Div", {"x": np.int32([7]), "z": np.int32([0])}, {}, "anything but a crash"),
    "Mod of int32 by 0": ("Mod", {"x": np.int32([7]), "z": np.int32([0])}, {"fmod": 1}, "anything but a crash"),
    "MaxPool without strides": ("MaxPool", {"x": np.ones((1, 1, 4, 4), np.float32)}, {"kernel_shape": [2, 2]}, "1"),
}


def answer(kind: str, fed: dict[str, Array], attributes: dict[str, Any]) -> float:
    whole = kind in ("Div", "Mod")
    graph = helper.make_graph(
        [helper.make_node(kind, list(fed), ["y"], **attributes)],
        "one",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in fed.items()
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32 if whole else TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/model.onnx")
        arguments = ["-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "finding"]
        words = [sys.executable, "-c", CONVERT, *arguments, "--keepInputFormat"]
        subprocess.run(words, cwd=name, capture_output=True, check=True)
        net = MNN.Interpreter(f"{name}/model.mnn")
    session = net.createSession({"numThread": 1, "precision": "high"})
    hosts = [
        MNN.Tensor(array.shape, KINDS[array.dtype.name], array, MNN.Tensor_DimensionType_Caffe)
        for array in fed.values()
    ]
    for key, array in fed.items():
        net.resizeTensor(net.getSessionInput(session, key), array.shape)
    net.resizeSession(session)
    for key, host in zip(fed, hosts, strict=True):
        net.getSessionInput(session, key).copyFrom(host)
    if net.runSession(session):
        raise RuntimeError("runSession failed")
    out = net.getSessionOutput(session, "y")
    room = np.zeros(out.getShape(), np.int32 if whole else np.float32)
    host = MNN.Tensor(out.getShape(), out.getDataType(), room, MNN.Tensor_DimensionType_Caffe)
    out.copyToHostTensor(host)
    return float(np.array(host.getNumpyData()).ravel()[0])


def main() -> int:
    wrong = 0
    for what, (_, _, _, expected) in CASES.items():
        done = subprocess.run([sys.executable, __file__, what], capture_output=True, text=True, check=False)
        answers = [line for line in done.stdout.splitlines() if line.startswith("answer ")]
        got = answers[0].removeprefix("answer ") if answers else f"exit code {done.returncode}"
        right = done.returncode == 1 if expected == "an error" else done.returncode >= 0 and bool(answers)
        if right and answers and expected[0] in "ni13":
            right = np.allclose(float(got), float(expected), rtol=0.1, atol=0, equal_nan=True)
        print(f"{what}: {got}, expected {expected}: {'right' if right else 'wrong'}")
        wrong += not right
    return int(wrong > 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        kind, fed, attributes, _ = CASES[sys.argv[1]]
        print("answer", answer(kind, fed, attributes))
    else:
        sys.exit(main())

"""MNN 3.6.1, CPU, precision "high": InstanceNormalization without `epsilon` adds nothing, and arithmetic of uint8 ends the process.

* InstanceNormalization-6: `epsilon` is 1e-5 where it is not given. Got: the answer of an epsilon of 0: 1 % off where the variance is 5e-4.
  With `epsilon=1e-5` written down the answer is right.
* Add-14, Min-12 and their kin take uint8. Got: SIGSEGV.

Found by `assay fuzz --flow mnn-f32 --seed 281105` (generators near-misses and arithmetic). Each runs in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import MNN
import numpy as np
import onnx
from onnx import helper

Array = np.ndarray[Any, Any]
CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
KINDS = {"float32": MNN.Halide_Type_Float, "uint8": MNN.Halide_Type_Uint8}


def answer(operator: str, opset: int, inputs: dict[str, Array], attributes: dict[str, Any], answers: Any) -> None:
    """What MNN makes of one node, whose output is like its first input."""
    first = next(iter(inputs.values()))
    element = helper.np_dtype_to_tensor_dtype(first.dtype)
    graph = helper.make_graph(
        [helper.make_node(operator, [*inputs], ["y"], **attributes)],
        "node",
        [helper.make_tensor_value_info(name, element, array.shape) for name, array in inputs.items()],
        [helper.make_tensor_value_info("y", element, first.shape)],
    )
    with tempfile.TemporaryDirectory() as name:
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), f"{name}/m.onnx"
        )
        words = ["-f", "ONNX", "--modelFile", "m.onnx", "--MNNModel", "m.mnn", "--bizCode", "finding"]
        command = [sys.executable, "-c", CONVERT, *words, "--keepInputFormat"]
        subprocess.run(command, cwd=name, capture_output=True, check=False)
        net = MNN.Interpreter(str(Path(name) / "m.mnn"))
    session = net.createSession({"numThread": 1, "precision": "high"})
    for key, array in inputs.items():
        host = MNN.Tensor(array.shape, KINDS[array.dtype.name], array, MNN.Tensor_DimensionType_Caffe)
        net.getSessionInput(session, key).copyFrom(host)
    net.runSession(session)
    out = net.getSessionOutput(session, "y")
    host = MNN.Tensor(out.getShape(), out.getDataType(), np.zeros_like(first), MNN.Tensor_DimensionType_Caffe)
    out.copyToHostTensor(host)
    answers.put(np.array(host.getNumpyData()).reshape(first.shape))


def run(operator: str, opset: int, inputs: dict[str, Array], expected: Array, **attributes: Any) -> str:
    answers: Any = multiprocessing.Queue()
    child = multiprocessing.Process(target=answer, args=(operator, opset, inputs, attributes, answers))
    child.start()
    child.join(120)
    if child.exitcode:
        return f"the process ended with {child.exitcode}"
    got = answers.get(timeout=10)
    off = float(np.abs(got.astype(float) - expected.astype(float)).max())
    return f"off by {off:.2g}" if not off < 1e-3 else ""


flat = np.float32([-0.03, -0.01, 0.01, 0.03]).reshape(1, 1, 2, 2)
fed = {"x": flat, "scale": np.ones(1, np.float32), "bias": np.zeros(1, np.float32)}
normal = flat / np.sqrt(flat.var() + 1e-5)
small = {"a": np.uint8([8, 6, 7]), "b": np.uint8([1, 9, 2])}
wrong = 0
for label, sentence in (
    ("InstanceNormalization", run("InstanceNormalization", 6, fed, normal)),
    ("InstanceNormalization with its epsilon", run("InstanceNormalization", 6, fed, normal, epsilon=1e-5)),
    ("Add of uint8", run("Add", 14, small, small["a"] + small["b"])),
    ("Min of uint8", run("Min", 13, small, np.minimum(small["a"], small["b"]))),
):
    wrong += bool(sentence)
    print(f"{label}: {sentence + '  WRONG' if sentence else 'right'}")
sys.exit(int(wrong > 0))

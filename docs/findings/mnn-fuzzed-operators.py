"""MNN 3.6.1, CPU, precision "high": attributes dropped, wrong numbers, and crashes, one operator each.

Expected: the answers of the evaluator of ONNX, or numpy's. Got: dilations of MaxPool, antialiasing, negative indices, a reduction,
and keepdims of a sum over all axes ignored; bytes dequantized wrongly; maxima over three axes wrong; SIGSEGV for an input left out,
and for bytes. Each runs in a process of its own. Found by `assay fuzz --flow mnn-f32 --seed 31` (generator sweep).
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
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
KINDS = {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int, "uint8": MNN.Halide_Type_Uint8}
rng = np.random.default_rng(0)


def drawn(*shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def answers(model: onnx.ModelProto, fed: dict[str, Array]) -> Array:
    """Of MNN, in the shape that it says."""
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/model.onnx")
        words = ["-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "finding"]
        command = [sys.executable, "-c", CONVERT, *words, "--keepInputFormat"]
        subprocess.run(command, cwd=name, capture_output=True, check=False)
        net = MNN.Interpreter(str(Path(name) / "model.mnn"))
    session = net.createSession({"numThread": 1, "precision": "high"})
    hosts = []
    for key, array in fed.items():
        net.resizeTensor(net.getSessionInput(session, key), array.shape)
        hosts.append((key, MNN.Tensor(array.shape, KINDS[array.dtype.name], array, MNN.Tensor_DimensionType_Caffe)))
    net.resizeSession(session)
    for key, host in hosts:
        net.getSessionInput(session, key).copyFrom(host)
    net.runSession(session)
    out = net.getSessionOutput(session, "y")
    dtype = next(name for name, kind in KINDS.items() if kind == out.getDataType())
    host = MNN.Tensor(
        out.getShape(), out.getDataType(), np.zeros(out.getShape(), dtype), MNN.Tensor_DimensionType_Caffe
    )
    out.copyToHostTensor(host)
    return np.array(host.getNumpyData()).reshape(out.getShape())


def compared(model: onnx.ModelProto, fed: dict[str, Array], expected: Array, verdicts: Any) -> None:
    got = answers(model, fed)
    if got.shape != expected.shape:
        verdicts.put(f"shape {got.shape} instead of {expected.shape}")
        return
    off = float(np.abs(got.astype(float) - expected.astype(float)).max())
    verdicts.put(f"off by {off:.2g}" if off > 1e-3 else "")


def wrong(
    kind: str,
    fed: dict[str, Array],
    constants: dict[str, Array | None] | None = None,
    opset: int = 18,
    expected: Array | None = None,
    **attributes: object,
) -> str:
    """What is wrong with the answer, "" if nothing; `constants` follow the inputs."""
    held = {name: array for name, array in (constants or {}).items() if array is not None}
    names = [*fed, *(name if name in held else "" for name in constants or {})]
    element = helper.np_dtype_to_tensor_dtype(np.dtype("float32") if kind == "DequantizeLinear" else fed["x"].dtype)
    graph = helper.make_graph(
        [helper.make_node(kind, names, ["y"], **attributes)],
        "one",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), tensor.shape)
            for name, tensor in fed.items()
        ],
        [helper.make_tensor_value_info("y", element, None)],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    if expected is None:
        expected = np.asarray(ReferenceEvaluator(model).run(None, fed)[0])
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=compared, args=(model, fed, expected, queue))
    child.start()
    child.join(60)
    if child.exitcode != 0:
        return f"ended with exit code {child.exitcode}"
    return str(queue.get())


bytes_ = rng.integers(0, 255, (5, 5, 9)).astype(np.uint8)
volume = drawn(2, 3, 3, 2, 5)
rows = np.array([1.0, 2, 3, 4], np.float32)

faults = {
    "MaxPool: dilations": wrong("MaxPool", {"x": drawn(1, 2, 7, 7)}, kernel_shape=[2, 2], strides=[1, 1], dilations=[2, 2],
                                opset=12),
    "GlobalMaxPool along three axes": wrong("GlobalMaxPool", {"x": volume}, expected=volume.max(axis=(2, 3, 4), keepdims=True)),
    "DequantizeLinear of an input without a zero point": wrong(
        "DequantizeLinear", {"x": bytes_}, {"s": np.float32(0.1)}, opset=10, expected=bytes_ * np.float32(0.1)
    ),
    "ReduceL1 over all axes: keepdims": wrong("ReduceL1", {"x": drawn(4, 3, 2)}, opset=11),
    "ScatterElements: negative indices": wrong(
        "ScatterElements", {"x": rows}, {"i": np.array([-1, -4]), "u": np.array([9, 8], np.float32)}, axis=0
    ),
    "ScatterElements: reduction mul": wrong(
        "ScatterElements", {"x": rows}, {"i": np.array([1, 2]), "u": np.array([9, 8], np.float32)}, axis=0, reduction="mul"
    ),
    "Resize: antialias": wrong(
        "Resize",
        {"x": drawn(1, 1, 8, 8)},
        {"roi": None, "scales": np.array([1, 1, 0.5, 0.5], np.float32)},
        mode="linear",
        antialias=1,
    ),
    "Pad: axes without a value": wrong(
        "Pad", {"x": drawn(5, 5)}, {"pads": np.array([2, 2]), "value": None, "axes": np.array([0])}
    ),
    "Sign of bytes": wrong("Sign", {"x": bytes_[0, 0]}, opset=13),
    "Abs of bytes": wrong("Abs", {"x": bytes_[0, 0]}, opset=13),
}  # fmt: skip
for what, value in faults.items():
    print(f"{what}: {value or 'right'}")
sys.exit(int(any(faults.values())))

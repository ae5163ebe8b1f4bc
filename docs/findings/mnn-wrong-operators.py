"""MNN 3.6.1, CPU: operators answered wrongly without a word, most of them because an attribute or an input is dropped.

Expected: the answers of the evaluator of ONNX. Got: norms over all axes where one is given as an input, the remainder of another
sign, a sum that replaces, cubic interpolation of another size, a convolution along one axis with an axis too many.
Found by `assay run operators --flow mnn-f32 --filter '*-float32-smoke-*'`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import MNN
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
KINDS = {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int}
rng = np.random.default_rng(0)


def drawn(*shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def answers(model: onnx.ModelProto, fed: dict[str, Array]) -> Array:
    """Of MNN, whatever shape it says."""
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/model.onnx")
        arguments = ["-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "finding"]
        words = [sys.executable, "-c", CONVERT, *arguments, "--keepInputFormat"]
        subprocess.run(words, cwd=name, capture_output=True, check=False)
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


def wrong(
    kind: str, fed: dict[str, Array], constants: dict[str, Array | None] | None = None, **attributes: object
) -> str:
    """What is wrong with the operator's first answer, "" if nothing; `constants` follow the inputs."""
    held = {name: array for name, array in (constants or {}).items() if array is not None}
    names = [*fed, *(name if name in held else "" for name in constants or {})]
    graph = helper.make_graph(
        [helper.make_node(kind, names, ["y"], **attributes)],
        "one",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), tensor.shape)
            for name, tensor in fed.items()
        ],
        [
            helper.make_tensor_value_info(
                "y", TensorProto.BOOL if kind in ("Less", "Greater") else TensorProto.FLOAT, None
            )
        ],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    (expected,) = ReferenceEvaluator(model).run(None, fed)
    got = answers(model, fed)
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}"
    off = float(np.abs(got.astype(float) - expected.astype(float)).max())
    return f"off by {off:.2g}" if off > 1e-4 else ""


x, last = {"x": drawn(3, 4, 5)}, {"axes": np.array([-1])}
faults = {
    "ReduceSum, its axes an input": wrong("ReduceSum", x, last, keepdims=0),
    "ReduceL1, its axes an input": wrong("ReduceL1", x, last, keepdims=0),
    "ReduceL2, its axes an input": wrong("ReduceL2", x, last, keepdims=0),
    "ReduceLogSumExp, its axes an input": wrong("ReduceLogSumExp", x, last, keepdims=0),
    "Mod with fmod": wrong("Mod", {"x": drawn(20), "z": drawn(20)}, fmod=1),
    "Less of two negative numbers": wrong("Less", {"x": np.full(8, -1, np.float32), "z": np.full(8, -2, np.float32)}),
    "Greater of two negative numbers": wrong(
        "Greater", {"x": np.full(8, -2, np.float32), "z": np.full(8, -1, np.float32)}
    ),
    "ScatterND that adds": wrong(
        "ScatterND", {"x": drawn(4, 5)}, {"i": np.array([[1], [1], [3]]), "u": drawn(3, 5)}, reduction="add"
    ),
    "Conv along one axis": wrong("Conv", {"x": drawn(2, 4, 20)}, {"w": drawn(8, 4, 3)}, kernel_shape=[3]),
    "ConvTranspose along three axes with a bias": wrong(
        "ConvTranspose", {"x": drawn(1, 4, 6, 7, 8)}, {"w": drawn(4, 8, 3, 3, 3), "b": drawn(8)}, kernel_shape=[3, 3, 3]
    ),
    "Resize, cubic": wrong(
        "Resize",
        {"x": drawn(1, 2, 5, 6)},
        {"roi": None, "scales": None, "sizes": np.array([1, 2, 7, 9])},
        mode="cubic",
        coordinate_transformation_mode="half_pixel",
        cubic_coeff_a=-0.75,
        nearest_mode="floor",
    ),
}
for what, value in faults.items():
    print(f"{what}: {value or 'right'}")
sys.exit(int(any(faults.values())))

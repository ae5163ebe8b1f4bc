"""MNN 3.6.1, CPU on x86, precision "high": 5x5 convolutions are a thousand times less exact than float32, and half weights are truncated.

Expected: a convolution within some roundings of its float64 answer, and weights that `--fp16` rounds to the nearest half. Got: 5x5
convolutions by Winograd's algorithm with tiles so large that they are off by 1e-3 where ONNX Runtime is by 1e-6, and weights that
are cut off towards zero: all of them too small, which adds up from layer to layer (1.4 % of the answer after 27 of MobileNet V1's).
Found by `assay run models --flow mnn-f32 --flow mnn-fp16 --filter alexnet-static --filter mobilenet_v1-static`.
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
import torch
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
rng = np.random.default_rng(0)


def mnn(x: Array, weights: Array, *more: str) -> Array:
    """The convolution as MNN computes it."""
    side = weights.shape[-1] // 2
    shape = (1, weights.shape[0], *x.shape[2:])
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[side] * 4)],
        "conv",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(weights, "w")],
    )
    with tempfile.TemporaryDirectory() as name:
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), f"{name}/model.onnx"
        )
        arguments = [
            "-f",
            "ONNX",
            "--modelFile",
            "model.onnx",
            "--MNNModel",
            "model.mnn",
            "--bizCode",
            "finding",
            *more,
        ]
        subprocess.run([sys.executable, "-c", CONVERT, *arguments], cwd=name, capture_output=True, check=False)
        net = MNN.Interpreter(str(Path(name) / "model.mnn"))
        session = net.createSession({"numThread": 1, "precision": "high"})
    kinds = (MNN.Halide_Type_Float, MNN.Tensor_DimensionType_Caffe)
    net.getSessionInput(session, "x").copyFrom(MNN.Tensor(x.shape, kinds[0], x, kinds[1]))
    net.runSession(session)
    host = MNN.Tensor(shape, kinds[0], np.zeros(shape, np.float32), kinds[1])
    net.getSessionOutput(session, "y").copyToHostTensor(host)
    return np.array(host.getNumpyData()).reshape(shape)


def exact(x: Array, weights: Array) -> Array:
    wide = [torch.from_numpy(array).double() for array in (x, weights)]
    return torch.nn.functional.conv2d(*wide, padding=weights.shape[-1] // 2).numpy()


def truncated(weights: Array) -> Array:
    half = weights.astype(np.float16)
    low = np.nextafter(half, np.float16(0))
    return np.where(np.abs(half.astype(np.float32)) > np.abs(weights), low, half).astype(np.float32)


x, weights = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 3, 32, 32), (16, 3, 5, 5)))
weights /= np.float32(np.sqrt(75))
off = float(np.abs(mnn(x, weights) - exact(x, weights)).max())
print(f"5x5 convolution: off by {off:.2g}{'  WRONG' if off > 1e-5 else ''}")
few = weights[:, :, :1, :1].copy()
got = mnn(x, few, "--fp16")
to = {name: float(np.abs(got - exact(x, array)).max()) for name, array in (
    ("rounded", few.astype(np.float16).astype(np.float32)), ("truncated", truncated(few)),
)}  # fmt: skip
cut = to["truncated"] < 0.01 * to["rounded"]
print(
    f"half weights: {to['rounded']:.2g} from those rounded, {to['truncated']:.2g} from those cut off{'  WRONG' if cut else ''}"
)
sys.exit(int(off > 1e-5 or cut))

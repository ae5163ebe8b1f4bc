"""MNN 3.6.1, CPU, precision "high": convolutions by Winograd on tiles of 8 keep 12 to 14 of float32's 24 bits.

Expected: a convolution in float32 to some 1e-7 of its norm, which the same engine gives with the session hint
WINOGRAD_MEMORY_LEVEL at 0. Got: 0.6e-4 to 2e-4. The matrices are those of the points 0, 1, -1, 2, -2, 3, -3
(WinogradGenerater, interp 1), whose rounding comes out 870 times (F(4x4, 5x5)) to 1,200 times (F(2x2, 7x7)) as large; with
1/2 in place of 3 it would be 19 to 25 times. Found by `assay run models --flow mnn-f32`: alexnet, super_resolution.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import MNN
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from onnx.reference import ReferenceEvaluator

from assay.backends.mnn.convert import to_mnn

WINOGRAD_MEMORY_LEVEL = 3


def off_by(kernel: int, level: int) -> float:
    rng = np.random.default_rng(kernel)
    w = rng.standard_normal((16, 16, kernel, kernel)).astype(np.float32) / np.float32(4 * kernel)
    x = rng.standard_normal((1, 16, 32, 32)).astype(np.float32)
    size = [1, 16, 33 - kernel, 33 - kernel]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, size)],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    with tempfile.TemporaryDirectory() as name:
        save(model, Path(name) / "one.onnx")
        (Path(name) / "one.mnn").write_bytes(to_mnn(Path(name) / "one.onnx", "float32"))
        net = MNN.Interpreter(str(Path(name) / "one.mnn"))
        net.setSessionHint(WINOGRAD_MEMORY_LEVEL, level)
        session = net.createSession({"numThread": 1, "precision": "high"})
    kinds = MNN.Halide_Type_Float, MNN.Tensor_DimensionType_Caffe
    net.getSessionInput(session, "x").copyFrom(MNN.Tensor(x.shape, kinds[0], x, kinds[1]))
    net.runSession(session)
    y = np.zeros(size, np.float32)
    host = MNN.Tensor(size, kinds[0], y, kinds[1])
    net.getSessionOutput(session, "y").copyToHostTensor(host)
    got = np.array(host.getNumpyData()).reshape(size)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(w.astype(np.float64), "w"))
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = TensorProto.DOUBLE
    (right,) = ReferenceEvaluator(model).run(None, {"x": x.astype(np.float64)})
    return float(np.linalg.norm(got - right) / np.linalg.norm(right))


worst = 0.0
for kernel in (3, 5, 7):
    default, direct = off_by(kernel, 3), off_by(kernel, 0)
    print(f"{kernel}x{kernel}: off by {default:.1e} of the norm, without Winograd by {direct:.1e}")
    worst = max(worst, default)
sys.exit(int(worst > 1e-5))

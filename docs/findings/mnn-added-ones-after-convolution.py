"""MNN 3.6.1, CPU: a constant of one element and as many axes as the other operand, first in an Add behind a convolution: wrong sums.

Expected: y = 1 + conv(x), as ONNX Runtime and numpy give it. Got: right only where the constant is the second operand or has fewer axes.
Found by `assay check` of a trained classifier of file types (a constant [1, 1, 1] behind a squeezed convolution, in its
GELU): every answer was another one, without a word.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

import MNN
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
CHANNELS, WIDTH = 8, 16
rng = np.random.default_rng(0)
X = rng.standard_normal((1, CHANNELS, WIDTH, 1)).astype(np.float32)
W = rng.standard_normal((CHANNELS, CHANNELS, 1, 1)).astype(np.float32)


def answer(constant: tuple[int, ...], *, squeezed: bool) -> np.ndarray:
    """Of MNN's session, called directly."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"])]
    if squeezed:
        nodes.append(helper.make_node("Squeeze", ["c", "axis"], ["s"]))
    nodes.append(helper.make_node("Add", ["one", "s" if squeezed else "c"], ["y"]))
    given = {"w": W, "axis": np.array([3]), "one": np.ones(constant, np.float32)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in given.items()],
    )
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), f"{folder}/model.onnx")
        arguments = ["-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "finding"]
        words = [sys.executable, "-c", CONVERT, *arguments, "--keepInputFormat"]
        subprocess.run(words, cwd=folder, capture_output=True, check=True)
        net = MNN.Interpreter(f"{folder}/model.mnn")
    session = net.createSession({"numThread": 1, "precision": "high"})
    host = MNN.Tensor(X.shape, MNN.Halide_Type_Float, X, MNN.Tensor_DimensionType_Caffe)
    net.getSessionInput(session, "x").copyFrom(host)
    net.runSession(session)
    out = net.getSessionOutput(session, "y")
    shape = out.getShape()
    host = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)
    out.copyToHostTensor(host)
    return np.array(host.getNumpyData()).reshape(shape)


convolved = np.einsum("oi,binx->bonx", W[:, :, 0, 0], X)
wrong = 0
for constant, squeezed in (((), False), ((1,), False), ((1, 1, 1, 1), False), ((), True), ((1, 1, 1), True)):
    expected = (convolved[..., 0] if squeezed else convolved) + 1
    off = np.abs(answer(constant, squeezed=squeezed) - expected)
    share = float((off > 1e-3).mean())
    print(
        f"ones{list(constant)} + conv{' squeezed' if squeezed else ''}: {share:.0%} of the sums wrong, by up to {off.max():.3g}"
    )
    wrong += share > 0
sys.exit(int(wrong > 0))

"""MNN 3.6.1, CPU, precision "high": four operators that are answered wrongly without a word.

Expected: numpy's answers. Got:

* SoftmaxCrossEntropyLoss divides by the number of all labels, those with `ignore_index` among them: the standard takes the mean of the
  others.
* Einsum "ii->i" gives all elements of the matrix, and not its diagonal.
* Resize with `axes` [3, 2] takes the sizes in the order of the axes, and not in that of `axes`.
* ArgMax and ArgMin of bytes give places that are not even the same twice. Of int32 they are right.

Found by `assay fuzz --flow mnn-f32`, seeds 291101 and 291301 (generators equalities and sweep); the order of `axes` by writing down a
node beside.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Any

import MNN
import numpy as np
import onnx
from onnx import helper, parser

Array = np.ndarray[Any, Any]
CONVERT = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"
KINDS = {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int, "uint8": MNN.Halide_Type_Uint8}


def answer(graph: str, opset: int, fed: dict[str, Array]) -> Array:
    """Of MNN, in the shape that it says."""
    model = helper.make_model(parser.parse_graph(graph), opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/model.onnx")
        words = ["-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "finding"]
        command = [sys.executable, "-P", "-c", CONVERT, *words, "--keepInputFormat"]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        net = MNN.Interpreter(f"{folder}/model.mnn")
    session = net.createSession({"numThread": 1, "precision": "high"})
    for name, array in fed.items():
        net.resizeTensor(net.getSessionInput(session, name), array.shape)
    net.resizeSession(session)
    for name, array in fed.items():
        host = MNN.Tensor(array.shape, KINDS[array.dtype.name], array, MNN.Tensor_DimensionType_Caffe)
        net.getSessionInput(session, name).copyFrom(host)
    net.runSession(session)
    out = net.getSessionOutput(session, "y")
    dtype = next(name for name, kind in KINDS.items() if kind == out.getDataType())
    host = MNN.Tensor(
        out.getShape(), out.getDataType(), np.zeros(out.getShape(), dtype), MNN.Tensor_DimensionType_Caffe
    )
    out.copyToHostTensor(host)
    return np.array(host.getNumpyData()).reshape(out.getShape())


scores, labels = np.float32([[1, 2, 0], [0, 1, 3]]), np.int32([1, -1])
loss = np.log(np.exp(scores[0]).sum()) - scores[0, 1]
square = np.arange(9, dtype=np.float32).reshape(3, 3)
picture = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
rows = np.uint8([[3, 1, 2, 7], [5, 0, 9, 1]])
LOSS = "g (float[2,3] x, int32[2] t) => (float y) { y = SoftmaxCrossEntropyLoss <ignore_index = -1> (x, t) }"
RESIZE = """g (float[1,1,2,2] x) => (float[1,1,2,4] y) <int64[2] z = {4, 2}>
  { y = Resize <axes = [3, 2], mode = "nearest"> (x, "", "", z) }"""

wrong = False
for name, graph, opset, fed, due in (
    ("SoftmaxCrossEntropyLoss", LOSS, 13, {"x": scores, "t": labels}, loss),
    (
        "Einsum",
        'g (float[3,3] x) => (float[3] y) { y = Einsum <equation = "ii->i"> (x) }',
        13,
        {"x": square},
        [0, 4, 8],
    ),
    ("Resize", RESIZE, 18, {"x": picture}, picture.repeat(2, 3)),
    ("ArgMax", "g (uint8[2,4] x) => (int64[1,4] y) { y = ArgMax (x) }", 13, {"x": rows}, rows.argmax(0)),
):
    given = answer(graph, opset, fed)
    print(f"{name}: {given.ravel().tolist()}, expected {np.ravel(due).tolist()}")
    wrong |= given.size != np.size(due) or not np.allclose(given.ravel(), np.ravel(due), atol=1e-5)
sys.exit(int(wrong))

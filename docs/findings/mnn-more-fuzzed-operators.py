"""MNN 3.6.1, CPU, precision "high": more operators that are answered wrongly, and crashes.

Expected: numpy's answers, or the evaluator's of ONNX. Got, without a word:

* LogSoftmax until opset 12 sums over one axis, and not over all from `axis` on.
* Negative indices count from nowhere.
* Resize without `mode` is linear and not nearest.
* MNN does not look at keep_aspect_ratio_policy, nearest_mode, select_last_index and SAME_LOWER.
* Nor does it look at output_shape of ConvTranspose and noop_with_empty_axes of ReduceSum.
* Round does not take halves to the even number.
* Det loses the sign of an exchange of rows.
* Split is all 0 where a part has no elements.
* Pad until opset 10 pads with 0, whatever its value.
* Cast to bool is false of a number between -1 and 1.
* Mean and Shrink compute something else.
* Where does not broadcast its operands and reads beyond them. Min, Max, Sum and Mean of three do the same.
* ScatterND writes one number of each slice that two indices name.
* A Conv along three axes without `kernel_shape` loses its last axis.

Two crash: a pool without `strides` divides by 0 (SIGFPE), and one along three axes reads foreign memory (SIGSEGV). Each runs in a
process of its own. Found by `assay fuzz --flow mnn-f32`, seeds 5, 2715, 291204, 291302 and 291455 (generators near-misses, equalities and
arithmetic), by writing down the nodes beside those, and by the case of another backend in the suite `regressions` (Conv).
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
from onnx import TensorProto, helper, numpy_helper, parser
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
    more: tuple[str, ...] = (),
    **attributes: object,
) -> str:
    """What is wrong with the answer, "" if nothing; `constants` follow the inputs, `more` are outputs beside the first."""
    held = {name: array for name, array in (constants or {}).items() if array is not None}
    names = [*fed, *(name if name in held else "" for name in constants or {})]
    element = helper.np_dtype_to_tensor_dtype(np.dtype("float32") if kind == "DequantizeLinear" else fed["x"].dtype)
    graph = helper.make_graph(
        [helper.make_node(kind, names if kind != "ScatterND" else ["x", "i", "u"], ["y", *more], **attributes)],
        "one",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), tensor.shape)
            for name, tensor in fed.items()
        ],
        [helper.make_tensor_value_info(name, element, None) for name in ("y", *more)],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return tried(model, fed, expected)


def tried(model: onnx.ModelProto, fed: dict[str, Array], expected: Array | None = None) -> str:
    """The same of a whole model."""
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


CHOSEN = parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
one (float[2,3] x) => (float[2,3] y) <float[3] w = {7, 8, 9}, float zero = {0}> { c = Less(x, zero) y = Where(c, x, w) }""")
row = np.array([1.0, 2, 3, 4], np.float32)
square, cube, column = drawn(1, 2, 4, 4), drawn(1, 2, 4, 4, 4), row.reshape(1, 1, 4, 1)
logits, pair = drawn(2, 3, 4), drawn(3, 2)
powers = np.exp(logits.astype(np.float64))
signed = np.array([-1, -0.6, -0.3, 0, 0.2, 0.6, 2], np.float32)
blocks = cube.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((3, 5, 7))
exchanged = np.float32([[[0, 2, 1], [3, 0, 1], [1, 1, 0]]])
squares = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) ** 2
inner = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)

faults = {
    "LogSoftmax of opset 11": wrong(
        "LogSoftmax", {"x": logits}, opset=11, axis=1, expected=np.log(powers / powers.sum((1, 2), keepdims=True))
    ),
    "MaxPool without strides": wrong("MaxPool", {"x": square}, opset=11, kernel_shape=[1, 1], expected=square),
    "MaxPool along three axes": wrong(
        "MaxPool", {"x": cube}, opset=11, kernel_shape=[2, 2, 2], strides=[2, 2, 2], expected=blocks
    ),
    "Conv along three axes without kernel_shape": wrong("Conv", {"x": cube}, {"w": drawn(3, 2, 3, 3, 3)}, opset=11),
    "MaxPool: SAME_LOWER": wrong(
        "MaxPool", {"x": column}, opset=11, auto_pad="SAME_LOWER", kernel_shape=[2, 1], strides=[1, 1], expected=column
    ),
    "Mean of two": wrong("Mean", {"x": pair, "z": 2 * pair}, opset=13, expected=1.5 * pair),
    "Shrink": wrong("Shrink", {"x": signed}, opset=9, expected=np.where(np.abs(signed) > 0.5, signed, 0)),
    "Resize: nearest_mode": wrong(
        "Resize",
        {"x": column},
        {"roi": None, "scales": np.array([1, 1, 2, 1], np.float32)},
        opset=13,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="ceil",
        expected=np.float32([1, 2, 2, 3, 3, 4, 4, 4]).reshape(1, 1, 8, 1),
    ),
    "Round of halves": wrong(
        "Round", {"x": np.array([0.5, 1.5, 2.5], np.float32)}, opset=11, expected=np.float32([0, 2, 2])
    ),
    "Cast of fractions to bool": wrong("Cast", {"x": signed}, opset=13, to=TensorProto.BOOL, expected=signed != 0),
    "Pad with a value, opset 10": wrong(
        "Pad",
        {"x": pair},
        opset=10,
        pads=[0, 0, 0, 2],
        value=-2.0,
        expected=np.pad(pair, ((0, 0), (0, 2)), constant_values=-2),
    ),
    "Det of exchanged rows": wrong("Det", {"x": exchanged}, opset=11, expected=np.float32([5])),
    "GatherND: negative indices": wrong("GatherND", {"x": pair}, {"i": np.array([[0, -1], [2, -2]])}, opset=13),
    "Split: a part of none": wrong(
        "Split", {"x": pair}, {"s": np.array([1, 0, 2])}, opset=13, more=("none", "rest"), axis=0, expected=pair[:1]
    ),
    "GatherElements: negative indices": wrong(
        "GatherElements", {"x": row}, {"i": np.array([0, -3])}, opset=13, axis=0, expected=row[:2]
    ),
    "OneHot: negative indices": wrong(
        "OneHot",
        {"x": np.array([-1, 1, 0], np.int32)},
        {"depth": np.array(3), "values": np.array([0, 1], np.float32)},
        opset=11,
        expected=np.eye(3, dtype=np.float32)[[2, 1, 0]],
    ),
    "ArgMax: select_last_index": wrong(
        "ArgMax", {"x": 0 * row[None]}, opset=13, axis=1, select_last_index=1, keepdims=0, expected=np.array([3])
    ),
    "ConvTranspose: output_shape": wrong(
        "ConvTranspose",
        {"x": inner},
        {"w": np.pad(np.ones((1, 1, 1, 1), np.float32), ((0, 0), (0, 0), (1, 1), (1, 1)))},
        opset=11,
        output_shape=[4, 4],
        expected=inner,
    ),
    "Where: an operand that is broadcast": tried(CHOSEN, {"x": np.array([[-1, -2, -3], [4, 5, 6]], np.float32)}),
    "Min of three: an operand that is broadcast": wrong(
        "Min",
        {"x": pair[:1], "a": pair, "b": 2 * pair},
        opset=13,
        expected=np.minimum(pair[:1], np.minimum(pair, 2 * pair)),
    ),
    "ScatterND: slices that two indices name": wrong(
        "ScatterND",
        {"x": np.zeros((2, 2, 3), np.float32), "u": np.float32([[1, 2, 3]])},
        {"i": np.array([[1, 0]])},
        opset=13,
        expected=np.float32([[[0] * 3, [0] * 3], [[1, 2, 3], [0] * 3]]),
    ),
    "Resize without mode": wrong(
        "Resize",
        {"x": squares},
        {"roi": None, "scales": np.array([1, 1, 0.5, 0.5], np.float32)},
        opset=13,
        expected=squares[..., ::2, ::2],
    ),
    "Resize: keep_aspect_ratio_policy": wrong(
        "Resize",
        {"x": squares},
        {"roi": None, "scales": None, "sizes": np.array([2, 4])},
        opset=18,
        mode="nearest",
        axes=[2, 3],
        keep_aspect_ratio_policy="not_larger",
        expected=squares[..., ::2, ::2],
    ),
    "ReduceSum: noop_with_empty_axes": wrong("ReduceSum", {"x": row}, opset=13, noop_with_empty_axes=1, expected=row),
}
for what, value in faults.items():
    print(f"{what}: {value or 'right'}")
sys.exit(int(any(faults.values())))

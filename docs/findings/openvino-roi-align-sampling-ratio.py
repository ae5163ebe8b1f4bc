"""OpenVINO 2026.4.1, CPU: RoiAlign without a sampling_ratio takes one point of each bin, as if the default were 1.

Expected: the default is 0, and so ceil(region / output) points along each axis. Got: the answer of sampling_ratio 1. Numpy and
ONNX Runtime agree. A sampling_ratio of 0 that is written down is right.
Found by judging models of one node by their derived tolerances.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

REGION = (1, 1, 5.5, 5.5)  # All its points lie inside of the picture: nothing is clamped.
BINS = 2


def answers(x: np.ndarray, **attributes: object) -> tuple[np.ndarray, np.ndarray]:
    """What OpenVINO and ONNX Runtime make of one node."""
    fed = {"x": x, "rois": np.array([REGION], np.float32), "batch": np.zeros(1, np.int64)}
    graph = helper.make_graph(
        [helper.make_node("RoiAlign", ["x", "rois", "batch"], ["y"], **attributes)],
        "one",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
            helper.make_tensor_value_info("rois", TensorProto.FLOAT, [1, 4]),
            helper.make_tensor_value_info("batch", TensorProto.INT64, [1]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=10).SerializeToString()
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer(fed)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.array(request.get_output_tensor(0).data), session.run(None, fed)[0]


def off(left: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(left - other).max())


rng = np.random.default_rng(0)
wrong = 0
print("openvino", openvino.__version__, "onnxruntime", onnxruntime.__version__)


def mean_of_points(x: np.ndarray, points: int) -> np.ndarray:
    """Half pixels, mode avg: the mean of `points` bilinear points along each axis of each bin."""
    picture = x[0, 0].astype(float)
    left, top, right, bottom = (edge - 0.5 for edge in REGION)
    places = (np.arange(BINS * points) + 0.5) / (BINS * points)
    rows, columns = top + (bottom - top) * places, left + (right - left) * places
    whole_rows, whole_columns = rows.astype(int), columns.astype(int)
    low, high = picture[whole_rows], picture[whole_rows + 1]
    between = low + (high - low) * (rows - whole_rows)[:, None]
    low, high = between[:, whole_columns], between[:, whole_columns + 1]
    sampled = low + (high - low) * (columns - whole_columns)
    return sampled.reshape(BINS, points, BINS, points).mean((1, 3))[None, None]


x = rng.standard_normal((1, 1, 8, 8)).astype(np.float32)
adaptive = int(np.ceil((REGION[2] - REGION[0]) / BINS))
for attributes in ({}, {"sampling_ratio": 0}, {"sampling_ratio": 1}, {"sampling_ratio": 2}):
    got, witness = answers(x, output_height=BINS, output_width=BINS, **attributes)
    by_hand = mean_of_points(x, attributes.get("sampling_ratio", 0) or adaptive)
    different = off(got, by_hand) > 1e-4
    wrong += different
    print(
        f"{attributes or 'no sampling_ratio'}: OpenVINO off by {off(got, by_hand):.2g} "
        f"(by {off(got, mean_of_points(x, 1)):.2g} from one point), "
        f"ONNX Runtime by {off(witness, by_hand):.2g}{'  WRONG' if different else ''}"
    )
sys.exit(1 if wrong else 0)

"""OpenVINO 2026.4.1, CPU: its reader of ONNX drops attributes and axes without a word, and answers something else.

Expected, by the standard: SpaceToDepth in mode CRD (opset 28) orders channels otherwise than DCR; GRU with layout 1 gives the last state
of each batch; MaxPool with ceil_mode leaves out windows that begin in the padding; Resize with align_corners and scales takes the last
element of the input for the last of the output that scales * length would have (opset 19). Got: DCR; a state of another shape; more
windows, with the lowest float in them; the corners of what was rounded down. Found by `assay run onnx-node --flow openvino-f32`.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper


def answers(
    kind: str, inputs: dict[str, np.ndarray], opset: int, outputs: int = 1, **attributes: object
) -> list[np.ndarray]:
    """All outputs of one node."""
    names = [f"y{place}" for place in range(outputs)]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
        if array.size
    ]
    words = [name if array.size else "" for name, array in inputs.items()]
    graph = helper.make_graph(
        [helper.make_node(kind, words, names, **attributes)],
        "one",
        given,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    request = compiled.create_infer_request()
    request.infer({name: array for name, array in inputs.items() if array.size})
    return [np.array(request.get_output_tensor(place).data) for place in range(outputs)]


wrong = []

x = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)
(got,) = answers("SpaceToDepth", {"x": x}, 28, blocksize=2, mode="CRD")
(other,) = answers("SpaceToDepth", {"x": x}, 28, blocksize=2, mode="DCR")
if np.array_equal(got, other):
    wrong.append("SpaceToDepth: CRD is answered as DCR")

data = np.arange(6, dtype=np.float32).reshape(3, 1, 2)
weights = {"x": data, "w": np.full((1, 18, 2), 0.1, np.float32), "r": np.full((1, 18, 6), 0.1, np.float32)}
every, last = answers("GRU", weights, 22, outputs=2, hidden_size=6, layout=1)
if last.shape != (3, 1, 6):
    wrong.append(f"GRU with layout 1: the last state has the shape {last.shape}, not (3, 1, 6)")

picture = np.ones((1, 1, 2, 2), np.float32)
(got,) = answers("MaxPool", {"x": picture}, 22, kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)
if got.shape != (1, 1, 1, 1):
    wrong.append(f"MaxPool with ceil_mode: {got.shape} with {got.min()} in it, not (1, 1, 1, 1)")

row = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4)
nothing = np.zeros(0, np.float32)
scaled = {"x": row, "roi": nothing, "scales": np.array([1, 1, 0.6, 0.6], np.float32)}
(got,) = answers("Resize", scaled, 19, mode="linear", coordinate_transformation_mode="align_corners")
if not np.allclose(got, [[[[1, 22 / 7]]]], rtol=1e-3):
    wrong.append(f"Resize with align_corners: {got.ravel()}, not [1, 3.142857]")

print("\n".join(wrong) or "all right")
sys.exit(int(bool(wrong)))

"""OpenVINO 2026.4.1, CPU: Attention ignores its window, and its causal mask does not know of the past.

Expected, by the standard: `left_window_size` and `right_window_size` (opset 25) mask keys that are too far away; with past keys,
`is_causal` lets query i see key j up to j = i + past. Got: no window; j = i, so that the newest keys are
hidden. The outputs of the evaluator of ONNX are
the published ones. Found by `assay run onnx-functions --flow openvino-f32`: the function body is right, the operator is not.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(0)


def off(opset: int, past: int = 0, **attributes: int) -> float:
    """How far the answer lies from that of the standard."""
    shapes = {"q": (1, 2, 4, 8), "k": (1, 2, 6, 8), "v": (1, 2, 6, 8)}
    shapes |= {"past_k": (1, 2, past, 8), "past_v": (1, 2, past, 8)} if past else {}
    fed = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    words = ["q", "k", "v", "", "past_k", "past_v"] if past else ["q", "k", "v"]
    names = ["y", "present_k", "present_v"] if past else ["y"]
    graph = helper.make_graph(
        [helper.make_node("Attention", words, names, **attributes)],
        "one",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in fed.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    expected = ReferenceEvaluator(model).run(None, fed)[0]
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    request = compiled.create_infer_request()
    request.infer(fed)
    return float(np.abs(np.array(request.get_output_tensor(0).data) - expected).max())


errors = {
    "plain": off(24),
    "causal": off(24, is_causal=1),
    "a window": off(25, left_window_size=1, right_window_size=0),
    "a past": off(24, past=3),
    "causal with a past": off(24, past=3, is_causal=1),
}
for what, value in errors.items():
    print(f"{what}: off by {value:.2g}")
sys.exit(int(any(value > 1e-4 for value in errors.values())))

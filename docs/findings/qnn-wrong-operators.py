"""QNN 2.7.0 in ONNX Runtime 1.31.1, the emulator of HTP: Pow with a base of one element, and the precision of LayerNormalization.

Pow: the base is a constant of one element. Expected: `2 ** x` at each element, as with a base of the shape of the exponent. Got: the
first element is right, the others are what lies behind that one element in memory, to the power of x (3, 0, or NaN).
LayerNormalization: expected float32, as the model declares and as Add, MatMul and Softmax are computed there (3e-7); got the precision
of float16 (8e-4). Found by `assay run operators --flow qnn-htp`. Wants the environment of QNN (`assay env build qnn`, and that
environment's interpreter).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper, numpy_helper

onnxruntime.register_execution_provider_library("QNN", onnxruntime_qnn.get_library_path())
DEVICE = next(device for device in onnxruntime.get_ep_devices() if device.ep_name.startswith("QNN"))


def answer(operator: str, inputs: list[str], x: np.ndarray, constant: np.ndarray) -> np.ndarray:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name in ("x", "y")]
    graph = helper.make_graph(
        [helper.make_node(operator, inputs, ["y"])], "one", ends[:1], ends[1:], [numpy_helper.from_array(constant, "c")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices([DEVICE], {"backend_type": "htp"})
    given: np.ndarray = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]
    return given.astype(np.float64)


x = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
wide = x.astype(np.float64)
normal = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
wrong = False
for what, right, given in (
    ("Pow, base of the shape of the exponent", 3.0**wide, answer("Pow", ["c", "x"], x, np.full_like(x, 3))),
    ("Pow, base of one element", 2.0**wide, answer("Pow", ["c", "x"], x, np.array(2, np.float32))),
    ("LayerNormalization", normal, answer("LayerNormalization", ["x", "c"], x, np.ones(5, np.float32))),
):
    off = ~(np.abs(given - right) <= 1e-5 * np.abs(right).max())
    wrong |= bool(off.any())
    first = ", ".join(
        f"{got:.5g} where {ought:.5g} is right" for got, ought in zip(given[off], right[off], strict=True)
    )
    print(f"{what}: {off.sum()} of {off.size} elements are wrong {first[:150]}")
sys.exit(int(wrong))

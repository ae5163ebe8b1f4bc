"""ONNX Runtime 1.31.1, CPU, at the default optimization: float weights of a convolution between quantizers are rounded to eight
bits.

Expected: a convolution of dequantized values with the weights that the model has, in float32. Got: with weights on a grid of 256
steps that nobody chose, so that one answer in six is another step; `WeightBiasQuantization` does it, and without that optimizer the
answers are those of the model. ConvTranspose and MatMul alike. (Its rounding of biases:
onnxruntime-rounds-biases-of-quantized-layers.py.) Found by `assay fuzz --flow onnxruntime --seed 77` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

draw = np.random.default_rng(0)
x = draw.integers(0, 255, (1, 4, 6, 6)).astype(np.uint8)
SHAPES = {"Conv": (3, 4, 3, 3), "ConvTranspose": (4, 3, 3, 3)}
"""Of the weights."""


def model(kind: str) -> bytes:
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "scale", "middle"], ["real"]),
        helper.make_node(kind, ["real", "w"], ["sums"]),
        helper.make_node("QuantizeLinear", ["sums", "step", "middle"], ["y"]),
    ]
    size = 4 if kind == "Conv" else 8
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 3, size, size])],
        [
            numpy_helper.from_array(np.float32(0.0625), "scale"),
            numpy_helper.from_array(np.uint8(128), "middle"),
            numpy_helper.from_array(draw.standard_normal(SHAPES[kind]).astype(np.float32), "w"),
            numpy_helper.from_array(np.float32(0.5), "step"),
        ],
    )
    opset = [helper.make_opsetid("", 19)]
    return bytes(helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString())


plain = onnxruntime.SessionOptions()
plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
wrong = False
for kind in SHAPES:
    made = model(kind)
    right = onnxruntime.InferenceSession(made, plain).run(None, {"x": x})[0]
    for left_out in ([], ["WeightBiasQuantization"]):
        session = onnxruntime.InferenceSession(made, disabled_optimizers=left_out)
        share = float((session.run(None, {"x": x})[0] != right).mean())
        name = f"without {left_out[0]}" if left_out else "by default"
        print(f"{kind}, {name}: {share:.0%} of the elements are another step{'  WRONG' if share else ''}")
        wrong = wrong or share > 0
sys.exit(int(wrong))

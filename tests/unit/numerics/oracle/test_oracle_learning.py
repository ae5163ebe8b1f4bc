"""Operators of ai.onnx.ml that onnx's own evaluator has wrong, beside ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from assay.numerics.oracle.evaluator import WideEvaluator


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_of_a_support_vector_classifier(classes: int) -> None:
    """From three classes on onnx 1.23.2 is up to 0.04 off: it multiplies vectors where the method multiplies elements."""
    stream = np.random.default_rng(classes)
    pairs = classes * (classes - 1) // 2
    node = helper.make_node(
        "SVMClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", kernel_type="RBF", kernel_params=[0.3, 0.0, 0.0],
        classlabels_strings=[f"c{number}" for number in range(classes)], vectors_per_class=[2] * classes,
        support_vectors=stream.normal(size=2 * classes * 4).tolist(), rho=stream.normal(size=pairs).tolist(),
        coefficients=stream.normal(size=(classes - 1) * 2 * classes).tolist(),
        prob_a=stream.uniform(-2, -0.5, pairs).tolist(), prob_b=stream.normal(size=pairs).tolist(),
    )  # fmt: skip
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [
            helper.make_tensor_value_info("label", TensorProto.STRING, ["n"]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", classes]),
        ],
    )
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = stream.normal(size=(20, 4)).astype(np.float32)
    theirs = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    ours = WideEvaluator(onnx.ModelProto.FromString(model.SerializeToString())).evaluate({"x": x.astype(np.float64)})
    assert list(ours[0]) == list(theirs[0])
    assert np.allclose(ours[1], theirs[1], rtol=1e-4, atol=1e-5)

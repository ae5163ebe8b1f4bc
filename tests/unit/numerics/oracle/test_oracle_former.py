"""Operators as former opsets define them, where onnx.reference computes something else."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from assay.errors import Unsupported
from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.ports import Tensor

NAMES = ("x", "scale", "bias", "mean", "var")


def _norm(opset: int, outputs: int = 1, **attributes: int | float) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in NAMES]
    given = [f"y{at}" for at in range(outputs)]
    node = helper.make_node("BatchNormalization", NAMES, given, epsilon=1e-3, **attributes)
    outcome = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in given]
    graph = helper.make_graph([node], "norm", values, outcome)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def _drawn(shape: tuple[int, ...]) -> dict[str, Tensor]:
    numbers = np.random.default_rng(3)
    inputs = {name: numbers.standard_normal(shape).astype(np.float32) for name in NAMES[1:4]}
    inputs["var"] = (np.abs(numbers.standard_normal(shape)) + 0.5).astype(np.float32)
    return {"x": 3 + numbers.standard_normal((2, 3, 4, 4)).astype(np.float32), **inputs}


def _normalized(inputs: dict[str, Tensor]) -> Tensor:
    x, scale, bias, mean, var = (inputs[name].astype(np.float64) for name in NAMES)
    if scale.ndim == 1:
        scale, bias, mean, var = (one.reshape(-1, 1, 1) for one in (scale, bias, mean, var))
    answer: Tensor = scale * (x - mean) / np.sqrt(var + 1e-3) + bias
    return answer


@pytest.mark.parametrize("evaluator", [Evaluator, WideEvaluator])
@pytest.mark.parametrize("opset", [7, 8, 9, 13, 14, 15, 22])
def test_batch_norm_with_one_output_takes_the_statistics_that_it_is_given(
    opset: int, evaluator: type[Evaluator]
) -> None:
    inputs = _drawn((3,))
    fed = {name: one.astype(evaluator.computes_in or one.dtype) for name, one in inputs.items()}
    (answer,) = evaluator(_norm(opset)).evaluate(fed)
    np.testing.assert_allclose(answer, _normalized(inputs), rtol=2e-5, atol=2e-5)


def test_batch_norm_of_opset_6_is_inference_where_it_says_so() -> None:
    inputs = _drawn((3,))
    (answer,) = Evaluator(_norm(6, is_test=1)).evaluate(inputs)
    np.testing.assert_allclose(answer, _normalized(inputs), rtol=2e-5, atol=2e-5)


def test_a_scale_for_every_element_before_opset_9() -> None:
    inputs = _drawn((3, 4, 4))
    (answer,) = Evaluator(_norm(7, spatial=0)).evaluate(inputs)
    np.testing.assert_allclose(answer, _normalized(inputs), rtol=2e-5, atol=2e-5)


def test_training_of_a_former_opset_has_no_reference() -> None:
    with pytest.raises(Unsupported, match="training of BatchNormalization-9"):
        Evaluator(_norm(9, outputs=5)).evaluate(_drawn((3,)))

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
        scale, bias, mean, var = (array.reshape(-1, 1, 1) for array in (scale, bias, mean, var))
    answer: Tensor = scale * (x - mean) / np.sqrt(var + 1e-3) + bias
    return answer


@pytest.mark.parametrize("evaluator", [Evaluator, WideEvaluator])
@pytest.mark.parametrize("opset", [7, 8, 9, 13, 14, 15, 22])
def test_batch_norm_with_one_output_takes_the_statistics_that_it_is_given(
    opset: int, evaluator: type[Evaluator]
) -> None:
    inputs = _drawn((3,))
    fed = {name: array.astype(evaluator.computes_in or array.dtype) for name, array in inputs.items()}
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
    with pytest.raises(Unsupported, match="Assay does not compute BatchNormalization with opset=9, training=1"):
        Evaluator(_norm(9, outputs=5)).evaluate(_drawn((3,)))


def _single(
    operator: str, opset: int, inputs: dict[str, Tensor], evaluator: type[Evaluator], **attributes: int | float
) -> Tensor:
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    values = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()]
    outcome = helper.make_tensor_value_info("y", kinds["x"], None)
    node = helper.make_node(operator, list(inputs), ["y"], **attributes)
    graph = helper.make_graph([node], "single", values, [outcome])
    fed = {
        name: array.astype(evaluator.computes_in) if evaluator.computes_in and array.dtype.kind == "f" else array
        for name, array in inputs.items()
    }
    (answer,) = evaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])).evaluate(fed)
    return np.asarray(answer)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("evaluator", [Evaluator, WideEvaluator])
@pytest.mark.parametrize(
    ("opset", "attributes", "rows"),
    [(9, {}, 2), (11, {"axis": 1}, 2), (11, {"axis": 2}, 6), (12, {"axis": -1}, 24), (12, {"axis": 0}, 1)],
)
def test_a_softmax_of_a_former_opset_is_over_all_axes_from_the_one_it_names(
    opset: int, attributes: dict[str, int], rows: int, evaluator: type[Evaluator], operator: str, dtype: type
) -> None:
    x = np.random.default_rng(5).standard_normal((2, 3, 4, 5)).astype(dtype)
    flat = x.astype(np.float64).reshape(rows, -1)
    if operator == "Hardmax":
        expected = (np.arange(flat.shape[1]) == flat.argmax(axis=1)[:, None]).astype(np.float64)
    else:
        expected = np.exp(flat) / np.exp(flat).sum(axis=1, keepdims=True)
        expected = np.log(expected) if operator == "LogSoftmax" else expected
    answer = _single(operator, opset, {"x": x}, evaluator, **attributes)
    np.testing.assert_allclose(answer.reshape(rows, -1), expected, atol=1e-2 if dtype is np.float16 else 1e-5)


@pytest.mark.parametrize("evaluator", [Evaluator, WideEvaluator])
def test_the_first_roi_align_knows_no_half_pixels(evaluator: type[Evaluator]) -> None:
    """On a ramp the mean of a bin is the ramp at its middle."""
    ramp = np.tile(np.arange(16, dtype=np.float32), (16, 1))[None, None]
    inputs = {"x": ramp, "rois": np.asarray([[4, 4, 12, 12]], np.float32), "batch": np.zeros(1, np.int64)}
    sizes = {"output_height": 2, "output_width": 2, "sampling_ratio": 2}
    first, later = (_single("RoiAlign", opset, inputs, evaluator, **sizes)[0, 0, 0] for opset in (10, 16))
    np.testing.assert_allclose(first, [6, 10])
    np.testing.assert_allclose(later, [5.5, 9.5])

"""Each of our operators on every node case of the standard: the published answers, and onnx.reference's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from assay.numerics.operators.index import onnx_operators
from assay.numerics.oracle.evaluator import KERNELS, Evaluator, WideEvaluator

OURS = sorted(
    {*KERNELS, *(operator.name for operator in onnx_operators().values() if operator.reference == "convolution")}
)

WRONG = {
    "test_lpnormalization_default_p1": "onnx.reference 1.23 forgets the absolute values of p = 1",
}
"""Cases whose published answers, or onnx.reference's, are not what the standard says."""


@pytest.fixture(scope="module")
def by_operator(node_cases: list[Any]) -> dict[str, list[Any]]:
    by_operator: dict[str, list[Any]] = {name: [] for name in OURS}
    for case in node_cases:
        operators = {node.op_type for node in case.model.graph.node} if case.model else set()
        for name in operators & by_operator.keys():
            by_operator[name].append(case)
    return by_operator


@pytest.mark.heavy
@pytest.mark.parametrize("operator", OURS)
def test_every_node_case(operator: str, by_operator: dict[str, list[Any]]) -> None:
    cases = by_operator[operator]
    assert cases, f"the standard has no node case of {operator}: nothing was checked"
    compared = sum(map(_compared, cases))
    assert compared > 0, f"no case of {operator} has arrays alone, or all of them are wrong: nothing was compared"


def _compared(case: Any) -> int:
    """How many of its data sets were compared with the answers of the standard."""
    compared = 0
    names = [info.name for info in case.model.graph.input]
    for given, published in case.data_sets or ():
        inputs, expected = ([_array(value) for value in part] for part in (given, published))
        feeds = dict(zip(names, inputs, strict=False))
        if not all(isinstance(array, np.ndarray) for array in (*inputs, *expected)):
            continue
        with np.errstate(all="ignore"):
            ours = Evaluator(case.model).evaluate(feeds)
            if case.name not in WRONG:
                _agree(case.name, ours, expected, 1e-3)
                compared += 1
            try:
                theirs: Any = ReferenceEvaluator(case.model).run(None, feeds)
            except Exception:  # onnx.reference does not have every case that we have
                continue
            if case.name not in WRONG:
                _agree(case.name, ours, theirs, 1e-5)
    return compared


def _array(value: Any) -> Any:
    """Some cases have scalars of numpy; sequences and optional values stay what they are."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def _agree(name: str, ours: Any, theirs: Any, tolerance: float) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype, name
        assert mine.shape == other.shape, name
        if other.dtype.kind != "f":
            assert np.array_equal(mine, other), name
            continue
        level = float(np.max(np.abs(other[np.isfinite(other)]), initial=0.0))
        coarse = 1e-2 if other.dtype == np.float16 else tolerance
        np.testing.assert_allclose(mine, other, rtol=coarse, atol=coarse * level + 1e-7, err_msg=name)


def test_lp_normalization_of_order_one_divides_by_the_sum_of_magnitudes() -> None:
    node = onnx.helper.make_node("LpNormalization", ["x"], ["y"], p=1, axis=-1)
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [3])
    graph = onnx.helper.make_graph([node], "g", [x], [y])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 22)])
    (answer,) = WideEvaluator(model).evaluate({"x": np.array([1.0, -2.0, 1.0])})
    assert answer.tolist() == [0.25, -0.5, 0.25]

"""Windows: of the paper that the standard names two sets of coefficients, and only what is right by neither is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.core.screening import Unspecified
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far, other_reading
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

SIZE = 10
ROUNDED, EXACT = (0.54, 0.46), (25 / 46, 21 / 46)
ROUNDED_BLACKMAN, EXACT_BLACKMAN = (0.42, 0.5, 0.08), (7938 / 18608, 9240 / 18608, 1430 / 18608)


def _values(operator: str, periodic: int) -> CaseValues:
    nodes = [
        helper.make_node(operator, ["n"], ["w"], periodic=periodic),
        helper.make_node("Mul", ["w", "x"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIZE]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [numpy_helper.from_array(np.int64(SIZE), "n")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": np.ones(SIZE, np.float32)}))
    values.evaluate()
    return values


def _by_hand(coefficients: tuple[float, ...], periodic: int) -> Tensor:
    steps = np.arange(SIZE) * 2 * np.pi / (SIZE if periodic else SIZE - 1)
    a, b, *c = coefficients
    return np.asarray(a - b * np.cos(steps) + sum(number * np.cos(2 * steps) for number in c), np.float32)


@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize(
    ("operator", "first", "second"),
    [("HammingWindow", EXACT, ROUNDED), ("BlackmanWindow", ROUNDED_BLACKMAN, EXACT_BLACKMAN)],
)
def test_rounded_and_exact_coefficients_are_two_readings(
    operator: str, first: tuple[float, ...], second: tuple[float, ...], periodic: int
) -> None:
    values = _values(operator, periodic)
    np.testing.assert_allclose(values.wide["y"], _by_hand(first, periodic), atol=1e-6)
    far = Far("values", "y")
    assert other_reading({"y": _by_hand(second, periodic)}, values, far) == (Unspecified.WINDOW_NUMBERS,)
    assert other_reading({"y": _by_hand(second, 1 - periodic)}, values, far) == ()

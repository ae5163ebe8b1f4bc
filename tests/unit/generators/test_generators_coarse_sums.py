"""A sum of halves that is accumulated in halves is coarse, and the standard allows it; any other answer of halves may be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from assay import plugins
from assay.core.flow import Flow
from assay.core.screening import Unspecified
from assay.generators.case_values import CaseValues
from assay.generators.comparison import coarse_sum, far_of
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

GRAPH = """<ir_version: 8, opset_import: ["" : 13]>
g (float16[256] x) => (float16[1] y) { y = ReduceSumSquare(x) }"""


def _in_halves(x: Tensor) -> np.float16:
    total = np.float16(0)
    for number in x:
        total = np.float16(total + number * number)
    return total


@pytest.mark.parametrize(("off", "due"), [(0, (Unspecified.COARSE_SUM,)), (300, ())])
def test_a_sum_accumulated_in_halves_is_left_open(off: int, due: tuple[Unspecified, ...]) -> None:
    x = np.asarray(np.round(np.random.default_rng(0).uniform(-3, 3, 256) * 2) / 2, np.float16)
    values = CaseValues(GeneratedCase(parser.parse_model(GRAPH).SerializeToString(), {"x": x}))
    values.evaluate()
    given = np.asarray([_in_halves(x) - off], np.float16)
    assert abs(float(given[0]) - float(values.wide["y"][0])) > 1
    assert coarse_sum({"y": given}, values, plugins.find_flow("onnxruntime"), 0) == due


@pytest.mark.parametrize(("size", "right"), [(1e-27, True), (1e-15, False)])
def test_a_norm_of_numbers_whose_squares_vanish_may_be_nothing(size: float, *, right: bool) -> None:
    """Of 1e-27 the square is 1e-54, which float32 does not hold; that of 1e-15 it does."""
    text = '<ir_version: 8, opset_import: ["" : 13]> g (float[1, 2] x) => (float[1, 1] y) { y = ReduceL2 <axes = [1]> (x) }'
    x = np.asarray([[size, -size]], np.float32)
    values = CaseValues(GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": x}))
    values.evaluate()
    far = far_of({"y": np.zeros((1, 1), np.float32)}, values, Flow("onnxruntime", "onnxruntime"), 7)
    assert (far.kind == "") is right

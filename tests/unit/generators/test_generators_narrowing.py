"""What an attribute does is told of the case that is left, and by either reading of the standard."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.core.screening import FED, FULL, Screened, Unspecified
from assay.generators.ablations import ablate
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far
from assay.generators.narrowing import Trial, simplified
from assay.ports.generator import GeneratedCase

POOL = "{ y = AveragePool <ceil_mode = 1, count_include_pad = 1, kernel_shape = [2], strides = [2]> (x) }"
SUM = "<float c = {2}> { y = Add (x, c) }"
OTHER_READING = (Unspecified.FRACTIONAL_LENGTH,)


def _case(nodes: str, size: int = 4) -> GeneratedCase:
    graph = f'<ir_version: 8, opset_import: ["" : 18]> g (float[1,1,4] x) => (float[1,1,{size}] y) {nodes}'
    x = np.asarray([[[1, 5, 2, 7]]], np.float32)
    return GeneratedCase(parser.parse_model(graph).SerializeToString(), {"x": x})


def _trial(case: GeneratedCase, kind: str, reading: tuple[Unspecified, ...] = ()) -> Trial:
    values = CaseValues(case)
    values.evaluate()
    return Trial(case, values, Screened.SUSPECT if kind else Screened.RIGHT, Far(kind), reading=reading)


@pytest.mark.parametrize("reading", [(), OTHER_READING])
def test_what_an_attribute_does_is_told_of_the_case_that_is_left(reading: tuple[Unspecified, ...]) -> None:
    """The engine does not read `ceil_mode`. Where that is left out it is wrong in another way if the padding counts."""

    def run(case: GeneratedCase) -> Trial:
        stated = {attribute.name for attribute in onnx.load_from_string(case.model).graph.node[0].attribute}
        if not {"kernel_shape", "strides"} <= stated:
            return Trial(case, CaseValues(case), Screened.INVALID)
        if "ceil_mode" in stated:
            return _trial(case, "values")
        if "count_include_pad" in stated:
            return _trial(case, "shape")
        return _trial(case, "values" if reading else "", reading)

    best, ablated = simplified(run(_case(POOL, 2)), run)
    left = onnx.load_from_string(best.case.model).graph.node[0].attribute
    assert {attribute.name for attribute in left} == {"ceil_mode", "kernel_shape", "strides"}
    assert ablated == {"AveragePool.ceil_mode": True}


def test_an_experiment_that_is_right_by_another_reading_is_right() -> None:
    """A constant is an input then."""

    def run(case: GeneratedCase) -> Trial:
        return _trial(case, "values", OTHER_READING if len(case.inputs) > 1 else ())

    tried = ablate(run(_case(SUM)), run)
    assert tried["stored"] is True
    assert tried["inputs"] is False
    assert FED not in tried


def test_what_a_case_does_not_have_it_is_wrong_without() -> None:
    case = _case("{ y = Neg (x) }")
    assert {FED: False, FULL: False}.items() <= ablate(_trial(case, "values"), lambda tried: _trial(tried, "")).items()
    none = dataclasses.replace(case, inputs={"x": np.zeros((1, 1, 0), np.float32)})
    assert FULL not in ablate(_trial(none, "values"), lambda tried: _trial(tried, ""))

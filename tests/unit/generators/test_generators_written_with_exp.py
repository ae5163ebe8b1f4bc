"""A curve in terms of Exp is the same curve, and an engine whose exponential is off is as wrong with it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.core.screening import WITH_EXP, Screened
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far
from assay.generators.ignored import ablate_fully
from assay.generators.narrowing import Trial
from assay.generators.written_with_exp import CURVES, written_with_exp
from assay.ports.generator import GeneratedCase


def _case(node: str, opset: int = 18) -> GeneratedCase:
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[3,4] a) => (float[3,4] b) {{ b = {node} }}'
    )
    return GeneratedCase(model.SerializeToString(), {"a": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)})


@pytest.mark.parametrize(
    "node", [*(f"{name} (a)" for name in CURVES), "Softmax <axis = 0> (a)", "LogSoftmax <axis = -2> (a)"]
)
def test_it_is_the_same_curve(node: str) -> None:
    case = _case(node)
    ((_, written),) = written_with_exp(case)
    whole, steps = CaseValues(case), CaseValues(written)
    assert steps.is_valid()
    assert "Exp" in {step.op_type for step in onnx.load_from_string(written.model).graph.node}
    whole.evaluate()
    steps.evaluate()
    np.testing.assert_allclose(steps.wide["y"], whole.wide["b"], rtol=1e-12, atol=1e-14)


def test_a_scalar_is_written_too() -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[1] a) => (float[1] b) { b = Tanh (a) }'
    )
    for value in (*model.graph.input, *model.graph.output):
        del value.type.tensor_type.shape.dim[:]
    ((_, written),) = written_with_exp(GeneratedCase(model.SerializeToString(), {"a": np.array(0.5, np.float32)}))
    assert CaseValues(written).is_valid()


def test_a_curve_without_axes_is_written_at_any_opset() -> None:
    ((_, written),) = written_with_exp(_case("Sigmoid (a)", 9))
    assert CaseValues(written).is_valid()


def test_what_is_no_such_curve_is_not_written() -> None:
    assert [*written_with_exp(_case("Erf (a)"))] == []
    assert [*written_with_exp(_case("Softmax (a)", 11))] == [], "of opset 11 it has several axes"


@pytest.mark.parametrize(
    "graph",
    [
        "g (float[1,1,4] x) => (float[1,1,2] y, int64[1,1,2] i) { y, i = MaxPool <kernel_shape = [2], strides = [2]> (x) }",
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Exp (w) }",  # stored: nothing that is fed is read
    ],
)
def test_what_has_two_outputs_or_stored_numbers_is_not_written(graph: str) -> None:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {graph}')
    (x,) = model.graph.input
    sizes = [size.dim_value for size in x.type.tensor_type.shape.dim]
    assert [*written_with_exp(GeneratedCase(model.SerializeToString(), {"x": np.ones(sizes, np.float32)}))] == []


@pytest.mark.parametrize("coarse", ["Exp", "Sigmoid"])
def test_a_coarse_exponential_is_told_from_a_coarse_curve(coarse: str) -> None:
    def run(case: GeneratedCase) -> Trial:
        operators = {node.op_type for node in onnx.load_from_string(case.model).graph.node}
        values = CaseValues(case)
        wrong = coarse in operators or "Sigmoid" in operators
        far = Far("values", rel_l2=1e-5) if wrong else Far()
        return Trial(case, values, Screened.SUSPECT if wrong else Screened.RIGHT, far)

    tried = ablate_fully(run(_case("Sigmoid (a)")), {}, run)
    assert tried[WITH_EXP] is (coarse == "Sigmoid")
    far = Trial(_case("Sigmoid (a)"), CaseValues(_case("Sigmoid (a)")), Screened.SUSPECT, Far("values", rel_l2=0.5))
    assert WITH_EXP not in ablate_fully(far, {}, run)


@pytest.mark.parametrize(
    ("became", "far"),
    [
        (Screened.REFUSED, Far()),
        (Screened.INVALID, Far()),
        (Screened.NO_ORACLE, Far()),
        (Screened.NO_NUMBERS, Far()),
        (Screened.FAILED, Far("failed")),
        (Screened.SUSPECT, Far("values", rel_l2=0.5)),
        (Screened.SUSPECT, Far("range")),
    ],
)
def test_what_says_nothing_of_exp_is_not_told(became: Screened, far: Far) -> None:
    """As "wrong with Exp" it made one cause of any two curves that an engine cannot be asked so."""
    case = _case("Sigmoid (a)")
    trial = Trial(case, CaseValues(case), Screened.SUSPECT, Far("values", rel_l2=1e-5))
    assert WITH_EXP not in ablate_fully(trial, {}, lambda written: Trial(written, CaseValues(written), became, far))

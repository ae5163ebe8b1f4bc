"""Gradients: what is right passes the finite differences, what is wrong or too near to a kink makes no case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.suites.gradients import NOT_DIFFERENTIABLE, SMOOTH, authored
from assay.suites.operators import TABLES
from assay.suites.torch_case import MakeRequest

torch = pytest.importorskip("torch")


def test_every_operator_is_differentiated_or_declared_to_have_no_derivative() -> None:
    floats = {table.name for table in TABLES if "float32" in table.dtypes}
    names = {name.partition("/")[2].partition("-")[0] for name in authored()}
    assert floats == names | NOT_DIFFERENTIABLE
    assert not names & NOT_DIFFERENTIABLE
    assert names >= SMOOTH
    assert {name.rpartition("-")[2] for name in authored()} == {"vjp", "second"}
    assert len(authored()) >= 500


class _Squared(torch.autograd.Function):  # type: ignore[misc,name-defined,unused-ignore]
    """x * x, whose backward forgets a factor of 1.001."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2.002 * x * grad


class _Module(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "values", "message"),
    [
        (torch.tanh, (0.3, -1.2, 2.0), ""),
        (torch.relu, (0.3, -1.2, 2.0), ""),
        (_Squared.apply, (0.3, -1.2, 2.0), "finite differences say"),
        (torch.relu, (0.3, 1e-4, -2.0), "a kink is within"),
    ],
)
def test_finite_differences_see_a_wrong_gradient_and_a_near_kink(
    function: Any, values: tuple[float, ...], message: str
) -> None:
    from assay.suites.gradients.build_gradients import _checked
    from assay.suites.gradients.vjp import joint

    inputs = [torch.tensor(values, dtype=torch.float64)]
    own = joint(_Module(function), ["x"], inputs, second=False)
    sentence = _checked(own, inputs, 3, second=False)
    assert message in sentence
    assert bool(message) == bool(sentence)


class _Scaled(torch.autograd.Function):  # type: ignore[misc,name-defined,unused-ignore]
    """weight * x, whose backward by the weight forgets a factor of 1.001."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any) -> Any:
        ctx.save_for_backward(x, weight)
        return weight * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, weight = ctx.saved_tensors
        return weight * grad, 1.001 * x * grad


@pytest.mark.parametrize("scaled", [_Scaled.apply, torch.mul])
def test_finite_differences_see_a_wrong_gradient_of_a_parameter(scaled: Any) -> None:
    from assay.suites.gradients.build_gradients import _checked
    from assay.suites.gradients.vjp import joint

    inputs = [torch.tensor((0.3, -1.2, 2.0), dtype=torch.float64)]
    module: Any = _Module(lambda x: scaled(torch.tanh(x), module.weight))
    module.weight = torch.nn.Parameter(torch.tensor((1.5, 0.7, -0.4), dtype=torch.float64))
    sentence = _checked(joint(module, ["x"], inputs, second=False), inputs, 3, second=False)
    assert bool(sentence) == (scaled is not torch.mul)
    assert not sentence or sentence.endswith("by the parameter weight")


@pytest.mark.heavy
def test_a_derivative_of_a_recurrent_operator_is_a_program_that_runs(tmp_path: Path) -> None:
    from assay.models.goldens import read_golden
    from assay.models.program import open_program
    from assay.suites.gradients.build_gradients import make

    make(MakeRequest(authored()["gradients/lstm-float32-2x5x6-size=8,layers=1,both=False-vjp"], 0, ""), tmp_path)
    program = open_program(tmp_path / "model.pt2")
    golden = read_golden(tmp_path / "golden")
    args, kwargs = program.arguments(golden.inputs[0])
    outputs = program.results(program.exported.module()(*args, **kwargs))
    assert set(outputs) == set(golden.outputs[0])
    assert all(outputs[name].numpy() == pytest.approx(array, abs=1e-5) for name, array in golden.outputs[0].items())


@pytest.mark.heavy
def test_the_program_gives_outputs_and_both_derivatives(tmp_path: Path) -> None:
    from assay.models.goldens import read_golden
    from assay.models.program import open_program
    from assay.suites.gradients.build_gradients import make

    case = authored()["gradients/tanh-float32-20-second"]
    make(MakeRequest(case, 0, ""), tmp_path)
    program = open_program(tmp_path / "model.pt2")
    assert [spec.name for spec in program.inputs] == ["x", "v0", "w0"]
    assert [output.name for output in program.outputs] == ["out0", "grad_x", "second_x"]
    golden = read_golden(tmp_path / "golden")
    x, v, w = (golden.inputs[0][name].astype("float64") for name in ("x", "v0", "w0"))
    y = torch.tanh(torch.from_numpy(x)).numpy()
    assert golden.outputs[0]["grad_x"] == pytest.approx(v * (1 - y * y))
    assert golden.outputs[0]["second_x"] == pytest.approx(-2 * w * v * y * (1 - y * y))

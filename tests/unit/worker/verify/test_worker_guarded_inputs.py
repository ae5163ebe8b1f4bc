"""An engine that has lost a guard is told by the inputs at which it counts, whatever its answers to the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from assay.core.case import Case, Contract
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.policy import Policy
from assay.core.result import VerifyResult
from assay.judge.accuracy import violations
from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.derived_tolerance import GuardedInputs
from assay.ports import Tensor, Tensors
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.guarded_inputs import GUARDED, check_guards

X = np.zeros((1, 2), np.float32)
ASKED = GuardedInputs(
    {"x": X, "level": -np.ones(1, np.float32), "mask": np.ones(3, bool)}, {"y": np.full((1, 2), -11.5)}, {"y": 0.01}
)


class _Engine:
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self._function = function

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        with np.errstate(all="ignore"):
            return {"y": self._function(tensors["x"]).astype(np.float32), "other": tensors["x"]}


def _asked(
    function: Callable[[Tensor], Tensor], guarded: Sequence[GuardedInputs] = (ASKED,), *, published: bool = False
) -> VerifyResult:
    contract = Contract(published=published)
    job = VerifyJob(Case("m", Model("m", "m.onnx", ""), contract=contract), Flow("f", "b"))
    compare = partial(ToleranceComparator(contract).compare, declared={"y": "float32"})
    comparisons = check_guards(job, _Engine(function), TransformedModel(Path("m.onnx")), guarded, compare)  # type: ignore[arg-type]
    assert all(comparison.at == GUARDED for comparison in comparisons)
    return replace(empty_result(job), comparisons=comparisons)


def _said(
    function: Callable[[Tensor], Tensor], guarded: Sequence[GuardedInputs] = (ASKED,), *, published: bool = False
) -> list[str]:
    return [finding_text(each.findings[0]) for each in _asked(function, guarded, published=published).comparisons]


@pytest.mark.parametrize("function", [np.log, lambda x: np.log(x + np.float32(1e-12)), lambda x: x + np.nan])
def test_an_answer_without_the_guard_is_wrong(function: Callable[[Tensor], Tensor]) -> None:
    (sentence,) = _said(function)
    assert sentence.startswith("On inputs at which the model guards against zero")


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (np.log, "no tolerance excuses this, fix the flow"),
        (lambda x: x - 11, 'fix the flow, or allow more in [model.tolerance."y"] if that error is acceptable'),
    ],
)
def test_it_is_said_once_and_what_the_inputs_were(function: Callable[[Tensor], Tensor], advice: str) -> None:
    (violation,) = violations(_asked(function), Policy())
    assert "(2 of 3 real numbers are 0, all from -1 to 0)" in violation.text
    assert violation.advice == advice


def test_a_constant_reference_is_no_doubt_there() -> None:
    (comparison,) = _asked(np.log).comparisons
    assert comparison.degenerate is None


def _refuse(x: Tensor) -> Tensor:
    raise ValueError(x)


@pytest.mark.parametrize("function", [lambda x: x - 11.5, lambda x: x - 11.495, _refuse])
def test_what_lies_near_or_is_refused_is_right(function: Callable[[Tensor], Tensor]) -> None:
    assert _said(function) == []


def test_it_is_not_asked_where_the_case_is_published_or_nothing_is_known() -> None:
    assert _said(np.log, published=True) == []
    assert _said(np.log, ()) == []


def test_the_first_of_several_inputs_that_tells_is_said() -> None:
    assert _said(lambda x: x - 11.5, (ASKED, _with(5.0))) == _said(lambda x: x - 11.5, (_with(5.0),))
    assert len(_said(np.log, (ASKED, _with(5.0)))) == 1


def _with(value: float) -> GuardedInputs:
    return GuardedInputs(ASKED.inputs, {"y": np.full((1, 2), value)}, ASKED.allowed)

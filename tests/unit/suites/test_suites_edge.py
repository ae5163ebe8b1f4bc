"""The exception scenarios: their answers hold in the evaluator of ONNX, their misuses are misuses, and what must be told is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from assay.core.case import Case
from assay.core.error_case import EXPECTED, KINDS, ErrorCase
from assay.core.flow import Flow
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.policy import Expectation, Policy
from assay.judge.words.finding_text import finding_text
from assay.pipeline.suite_cases.expected_timeouts import limits_of, with_expected_timeouts
from assay.ports import Tensor
from assay.suites.edge import tables
from assay.suites.edge.build_edge import _saved, array
from assay.worker.stages import Stages
from assay.worker.verify.wrong_use import _again, apply_wrong_use

_DEFECTS = {"ReduceLogSumExp-lowest", "Loop-endless", "LogSoftmax-large"}
"""Of onnx.reference itself: it subtracts -inf from -inf, knows no Loop without a condition, takes the logarithm of 0."""


def test_the_answers_of_the_tables_are_those_of_the_evaluator_of_onnx(tmp_path: Path) -> None:
    from onnx.reference import ReferenceEvaluator

    wrong_ones = set()
    for edge in tables():
        evaluator = ReferenceEvaluator(str(_saved(tmp_path / "model.onnx", edge, edge.nodes)))
        with np.errstate(all="ignore"):
            outputs = evaluator.run(None, {name: array(given) for name, given in edge.inputs.items()})
        for got, given in zip(outputs, edge.outputs.values(), strict=True):
            expected = array(given)
            fits = got.shape == expected.shape and got.dtype == expected.dtype
            if not fits or not np.allclose(got, expected, edge.relative, 0.0, equal_nan=expected.dtype.kind == "f"):
                wrong_ones.add(edge.name)
    assert wrong_ones == _DEFECTS


def test_they_are_many_and_of_every_kind() -> None:
    assert len(tables()) >= 270
    misuses = [table.misuse for table in tables() if table.misuse is not None]
    assert {misuse.kind for misuse in misuses} == set(KINDS)
    assert {misuse.expects for misuse in misuses} == set(EXPECTED)
    assert all(table.wrong for table in tables() if table.misuse is not None and table.misuse.kind == "model")


@pytest.mark.parametrize("kind", ["rank", "shape", "empty", "dtype", "missing", "extra", "value"])
def test_a_misuse_changes_what_is_fed_and_nothing_else(kind: str) -> None:
    sample = {"x": np.ones((2, 3), np.float32), "z": np.zeros(2, np.float32)}
    fed = apply_wrong_use(sample, ErrorCase(kind, input="x", value=9, dtype="float64"))
    expected = {
        "rank": (1, 2, 3), "shape": (2, 4), "empty": (2, 0), "dtype": (2, 3), "missing": None, "extra": (2, 3), "value": (2, 3)
    }[kind]  # fmt: skip
    assert (fed["x"].shape if "x" in fed else None) == expected
    assert np.array_equal(fed["z"], sample["z"])
    same = "x" in fed and fed["x"].dtype == np.float32 and np.array_equal(fed["x"], sample["x"])
    assert same == (kind == "extra")
    assert sample["x"].shape == (2, 3), "the right inputs must stay as they are"


class _Spoilt:
    """An engine that a wrong use has damaged: it answers something else, or nothing."""

    def __init__(self, answer: Tensor | None) -> None:
        self._answer = answer

    def run(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        if self._answer is None:
            raise RuntimeError("the session is closed")
        return {"y": self._answer}


@pytest.mark.parametrize(
    ("answer", "message"),
    [(np.ones(2), ""), (np.zeros(2), "is another"), (None, "refuses the right inputs: the session")],
)
def test_an_engine_that_is_not_the_same_afterwards_is_told(answer: Tensor | None, message: str) -> None:
    findings = _again(_Spoilt(answer), {}, {"y": np.ones(2)}, Stages(lambda stage: None))  # type: ignore[arg-type]
    assert [finding.kind for finding in findings] == (["unusable"] if message else [])
    assert message in "".join(finding_text(finding) for finding in findings)


def test_a_model_that_never_ends_is_waited_for_no_longer_than_it_says_and_stopping_it_is_right() -> None:
    endless = Case("edge/a", Model("a", "", ""), misuse=ErrorCase("value", "timeout", "n", 9, limit_s=15.0))
    other = Case("edge/b", Model("b", "", ""))
    limits = Limits(timeout_s=60.0)
    assert [limits_of(case, limits).timeout_s for case in (endless, other)] == [15.0, 60.0]
    assert not math.isinf(limits_of(endless, Limits()).timeout_s)
    (said,) = with_expected_timeouts(Policy(), [endless, other], [Flow("f", "f")]).expectations
    assert (said.case, said.flow, said.outcome, said.strict) == ("edge/a", "f", "timeout", False)
    known = Policy(expectations=(Expectation("edge/a", "f", "crash", "known"),))
    both = with_expected_timeouts(known, [endless], [Flow("f", "f"), Flow("g", "g")])
    assert [(expectation.flow, expectation.outcome) for expectation in both.expectations] == [
        ("f", "crash"),
        ("g", "timeout"),
    ]

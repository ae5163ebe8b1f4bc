"""A pass on a flow that quantizes names a large loss of the quantized model beside the table, which has no word of it."""

from __future__ import annotations

import datetime

import pytest
from msgspec.structs import replace

from assay.core.policy import Goal, Policy
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.judge.verdicts import judge
from assay.reports.terminal import Terminal
from assay.testing.builders import make_comparison, make_job, make_result, make_run

F64 = Reference(ReferenceKind.ORACLE, "reference-f64", "", "reference", "onnxruntime")


def _screen(sqnr_db: float, *goals: Goal) -> str:
    far = make_comparison()
    job = make_job()
    far = replace(far, metrics={**far.metrics, "sqnr_db": sqnr_db})
    witness = Witness("onnxruntime-disable", "onnxruntime", agrees_with_reference=True)
    result = make_result(against_float=(far,), float_reference=F64, float_witnesses=(witness,))
    run = replace(make_run(jobs=(job,)), policy=Policy(goals=goals))
    today = datetime.date(2026, 11, 28)
    judgement = judge([result], run.policy, planned=[job.key], today=today, narrowed=True)
    return " ".join(Terminal(width=80, wrapped=True).render(run, [result], judgement).split())


@pytest.mark.parametrize(("sqnr_db", "is_told"), [(5.54, True), (-3.0, True), (24.0, False)])
def test_a_large_loss_is_told_beside_a_pass(sqnr_db: float, is_told: bool) -> None:
    screen = _screen(sqnr_db)
    assert "PASS" in screen
    assert ("the engine answers as its model does, which is" in screen) is is_told
    assert ("off by 53 % of the answers on these inputs" in screen) is (sqnr_db == 5.54)


def test_a_loss_within_a_limit_of_the_user_is_no_news() -> None:
    screen = _screen(5.54, Goal("vs_float.sqnr_db", min=5.0))
    assert "PASS" in screen
    assert "--require 'vs_float.rel_l2" not in screen
    assert "the engine answers as its model does" not in screen
    assert "makes that a failure" in _screen(5.54, Goal("vs_float.sqnr_db", min=5.0, case="another"))

"""Slowness ends at the operator that the gate's own profiles name."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.engine_info import EngineInfo
from assay.core.measurement import OperatorTime
from assay.core.result import Result
from assay.core.speed import SpeedComparison
from assay.testing.builders import make_job, make_result
from assay.triage.cause import Cause, Where
from assay.triage.cause_page import write_pages
from assay.triage.slow import cause_of_slowness
from assay.triage.triage_text import lines

BEFORE = (OperatorTime("conv", "Conv", 4e-4), OperatorTime("mm", "MatMul", 2e-4))
AFTER = (OperatorTime("conv", "Conv", 9e-4), OperatorTime("mm", "MatMul", 3e-4))


def cause_of(result: Result, folder: Path) -> Cause:
    """Of a job on that result."""
    cause = cause_of_slowness(make_job(kind=result.kind.value), result, folder)
    assert cause is not None
    return cause


def compared(before: tuple[OperatorTime, ...] = BEFORE, after: tuple[OperatorTime, ...] = AFTER) -> Result:
    """A comparison with these profiles."""
    return make_result(
        kind="compare_speed",
        speeds=(SpeedComparison("the baseline", own_s=1.2e-3, rival_s=6e-4),),
        operator_times=after,
        baseline_operator_times=before,
        facts=EngineInfo(options={"fuse": "off"}),
        baseline_facts=EngineInfo(options={"fuse": "on"}),
    )


def test_the_operator_that_takes_longer_is_named_with_its_share_and_what_else_changed(tmp_path: Path) -> None:
    cause = cause_of(compared(), tmp_path)
    assert (cause.nodes, cause.operators, cause.where) == (("conv", "mm"), ("Conv",), Where.NODE)
    assert cause.explains == pytest.approx(5 / 6)
    assert cause.symptom.size == pytest.approx(1.0)
    text_lines = [*lines(cause)]
    assert "slower by Conv" in text_lines[0]
    assert "+0.5 ms Conv conv (0.4 -> 0.9 ms) in one call" in text_lines[1]
    assert "83 % of the time; then +0.1 ms MatMul mm" in text_lines[1]
    assert text_lines[2].endswith("brought by: fuse on -> off")
    assert len(text_lines) == 3
    assert "+0.5 ms Conv conv" in write_pages(cause)[0].read_text()


def test_of_a_measurement_that_misses_its_limit_the_dearest_operator_is_named(tmp_path: Path) -> None:
    cause = cause_of(make_result(kind="measure", operator_times=AFTER), tmp_path)
    assert cause.explains == pytest.approx(0.75)
    assert cause.nodes[0] == "conv"
    text_lines = [*lines(cause)]
    assert "too slow by Conv" in text_lines[0]
    assert text_lines[2] == "  brought by: not known: a measurement has no earlier engine to compare with"


def test_without_a_profile_or_a_slower_operator_nothing_is_named(tmp_path: Path) -> None:
    for result in (compared((), ()), compared((), AFTER), compared(AFTER, BEFORE), make_result(kind="verify")):
        assert cause_of_slowness(make_job(), result, tmp_path) is None

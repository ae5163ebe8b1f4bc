"""An artifact that was built and cannot be run here: an outcome of its own, never a pass, its facts still judged."""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec
import pytest

from assay.commands.check import run_check
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Goal, Policy
from assay.core.verdict import VerdictStatus
from assay.judge import judge
from assay.options.check import CheckOptions
from assay.pipeline.open_run import Checked

TODAY = datetime.date(2026, 11, 21)


def lowered(linear: Path, golden: Path, stage: str, task: str = "verify") -> Checked:
    options = {"fault": "not_runnable", "stage": stage}
    return run_check(
        CheckOptions(
            models=(linear,), flows=("faulty",), golden=golden, options=options, only_kind=task, history=".assay"
        )
    )


@pytest.mark.parametrize(("stage", "task"), [("load", "verify"), ("run", "verify"), ("run", "measure")])
def test_lowered_is_told_with_its_artifact_and_is_no_pass(
    linear: Path, golden: Path, stage: str, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(linear.parent)
    checked = lowered(linear, golden, stage, task)
    (result,) = checked.results
    assert (result.outcome, result.cause) == (Outcome.LOWERED, Cause.MISSING_DEVICE)
    assert result.stage is {"load": Stage.LOAD, "run": Stage.RUN}[stage] or task == "measure"
    assert result.detail == "faulty was asked to have no device here."
    assert result.facts.artifact_bytes > 0
    assert len(result.facts.artifact_digest) == 64
    assert checked.judgement.verdicts[0].word is VerdictStatus.SKIP
    assert checked.judgement.exit_code == 5


def test_what_is_known_of_the_artifact_is_judged(linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(linear.parent)
    (result,) = lowered(linear, golden, "load").results
    for limit, word in ((1.0, VerdictStatus.FAIL), (1e9, VerdictStatus.SKIP)):
        policy = Policy(goals=(Goal("artifact.bytes", max=limit), Goal("max_abs", max=0.0)))
        planned = [result.job_key]
        verdict = judge([result], policy, planned=planned, today=TODAY).verdicts[0]
        assert verdict.word is word, verdict.reason
    strict = Policy(fail_on=("lowered",))
    assert judge([result], strict, planned=planned, today=TODAY).exit_code == 1


def test_lowering_that_says_not_runnable_is_a_refusal(
    linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was built then: a backend must not claim that it was."""
    monkeypatch.chdir(linear.parent)
    (result,) = lowered(linear, golden, "lower").results
    assert result.outcome is Outcome.UNSUPPORTED
    assert result.facts == msgspec.structs.replace(result.facts, artifact_bytes=0)


def test_what_a_build_finds_missing_is_looked_for_once(
    linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its measuring has the same answer, without another build."""
    monkeypatch.chdir(linear.parent)
    options = {"fault": "unavailable", "stage": "lower"}
    checked = run_check(
        CheckOptions(models=(linear,), flows=("faulty",), golden=golden, options=options, history=".assay")
    )
    verified, measured = checked.results
    assert {(result.outcome, result.stage, result.detail) for result in checked.results} == {
        (Outcome.UNAVAILABLE, Stage.LOWER, "faulty was asked to lack a library.")
    }
    assert (bool(verified.stage_times), bool(measured.stage_times)) == (True, False)
    assert checked.judgement.exit_code == 5


@pytest.mark.parametrize("task", ["verify", "measure"])
def test_a_delegate_that_took_nothing_is_no_pass(
    linear: Path, golden: Path, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are right, and still it is not what was asked for."""
    monkeypatch.chdir(linear.parent)
    checked = run_check(CheckOptions(models=(linear,), flows=("faulty-undelegated",), golden=golden, only_kind=task))
    (result,) = checked.results
    assert (result.outcome, checked.judgement.exit_code) == (Outcome.UNDELEGATED, 5)
    assert result.detail == "nothing was delegated: all operators were left to another device (Identity)"
    assert task == "measure" or result.comparisons[0].metrics["budget_used"] < 1

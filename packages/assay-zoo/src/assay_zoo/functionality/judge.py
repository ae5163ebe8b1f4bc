"""From what the workers observed to checks that name who is at fault: the backend, the machine, or nobody."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.core.result_parts import comparisons_of
from assay.judge.draft_verdict import unless_said
from assay_zoo.check import Check, CheckOutcome

_MACHINE = {Outcome.UNAVAILABLE, Outcome.INFRASTRUCTURE, Outcome.LOWERED}
_RAN = {
    Outcome.OK,
    Outcome.MISMATCH,
    Outcome.MISTRUSTED,
    Outcome.NONDETERMINISTIC,
    Outcome.UNDELEGATED,
    Outcome.OTHER_PRECISION,
}


def flow_check(result: Result, flow: str, sets: Sequence[str], path: str) -> Check:
    """`functionality.<flow>`: every data set through one flow."""
    return _check(f"functionality.{flow}", result, flow, sets, path, f"{len(sets)} data sets agree with the reference")


def batch_check(result: Result, flow: str, batches: Sequence[str], path: str) -> Check:
    """`functionality.dynamic-batch`: the free batch at several sizes through one flow."""
    passed = f"{flow}: {', '.join(batches)} agree with the reference"
    return _check("functionality.dynamic-batch", result, flow, batches, path, passed)


def _check(name: str, result: Result, flow: str, samples: Sequence[str], path: str, passed: str) -> Check:
    outcome, sentence = _judged(result, flow, samples, passed)
    used = [
        comparison.metrics["budget_used"]
        for comparison in comparisons_of(result)
        if "budget_used" in comparison.metrics
    ]
    return Check(
        name,
        outcome,
        sentence,
        path,
        executed=len(samples) if result.outcome in _RAN and comparisons_of(result) else 0,
        seconds=result.seconds,
        figures={"budget_used": max(used)} if used else {},
        stops=outcome is CheckOutcome.FAILED and not comparisons_of(result),
    )


def _judged(result: Result, flow: str, samples: Sequence[str], passed: str) -> tuple[CheckOutcome, str]:
    detail = result.detail or result.outcome.value
    where = _where(result, samples)
    match result.outcome:
        case Outcome.OK if comparisons_of(result):
            return CheckOutcome.PASSED, passed
        case Outcome.OK:
            return CheckOutcome.FAILED, f"{flow} compared nothing: the model has no output that could be held"
        case outcome if outcome in _MACHINE:
            return CheckOutcome.INFRASTRUCTURE, f"{flow} could not be asked: {detail}"
        case Outcome.MISTRUSTED:
            return CheckOutcome.UNDECIDED, f"{flow} agrees, and that proves nothing: {detail}"
        case Outcome.MISMATCH:
            return CheckOutcome.FAILED, f"{flow} does not give the model's answers{where}: {detail}"
        case Outcome.UNSUPPORTED:
            node = unless_said(detail, result.node, f" (node {result.node!r})")
            return CheckOutcome.FAILED, f"{flow} does not support the model: {detail}{node}"
        case Outcome.ERROR if result.cause in (Cause.MISSING_LIBRARY, Cause.MISSING_DEVICE):
            return CheckOutcome.INFRASTRUCTURE, f"{flow} could not be asked: {detail}"
        case Outcome.NONDETERMINISTIC:
            return CheckOutcome.FAILED, f"{flow} does not repeat its answers: {detail}"
        case Outcome.CRASH | Outcome.TIMEOUT | Outcome.OUT_OF_MEMORY as outcome:
            words = {"crash": "crashes", "timeout": "does not end", "out_of_memory": "runs out of memory"}[
                outcome.value
            ]
            return CheckOutcome.FAILED, f"{flow} {words} on the model, in the stage {result.stage.value!r}: {detail}"
        case outcome:
            return CheckOutcome.FAILED, f"{flow} ends in {outcome.value} ({result.stage.value}): {detail}"


def _where(result: Result, samples: Sequence[str]) -> str:
    """The sample of the worst element, where one is wrong."""
    for comparison in comparisons_of(result):
        if (
            comparison.findings
            and comparison.worst
            and comparison.worst[0].index
            and comparison.worst[0].index[0] < len(samples)
        ):
            return f" on {samples[comparison.worst[0].index[0]]}"
    return ""

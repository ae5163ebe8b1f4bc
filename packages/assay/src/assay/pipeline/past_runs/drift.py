"""What changed since the run before, below every limit: told with the verdict, and never a reason to fail."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.result import Result, VerifyResult
from assay.core.result_parts import comparisons_of
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.pipeline.adapters import Services

COARSE = "coarse_tolerance"
LOOKED_AT = 20
"""Runs back in the history among which the one before is searched."""


def annotate_drift(judgement: RunVerdict, run: Run, results: Sequence[Result], services: Services) -> RunVerdict:
    """Passing verdicts with `changed: ...` where an error grew against the baseline run, or the latest run before this one
    that asked the same question (case, flow, model, inputs) of the same backend."""
    compared = {result.job_key: result for result in results if isinstance(result, VerifyResult) and result.comparisons}
    former = _earlier(run, compared, services) if compared else ("", {})
    if not former[1]:
        return judgement
    verdicts = tuple(
        _described(verdict, compared[verdict.job_key], former) if verdict.job_key in compared else verdict
        for verdict in judgement.verdicts
    )
    return msgspec.structs.replace(judgement, verdicts=verdicts)


def _earlier(run: Run, compared: dict[str, VerifyResult], services: Services) -> tuple[str, dict[str, Result]]:
    earlier = (
        [run.baseline]
        if run.baseline
        else [run_summary.id for run_summary in services.store.runs(LOOKED_AT) if run_summary.id < run.id]
    )
    for identity in earlier:
        earlier_results = {
            result.job_key: result
            for result in services.store.results(identity, compared)
            if result.job_digest == compared[result.job_key].job_digest
        }
        if earlier_results:
            return identity, earlier_results
    return "", {}


def _described(verdict: Verdict, result: VerifyResult, former: tuple[str, dict[str, Result]]) -> Verdict:
    from assay.numerics.tolerance.judge.error_growth import increased

    identity, results = former
    before = results.get(result.job_key)
    if before is None or verdict.word is not VerdictStatus.PASS:
        return verdict
    old = {(comparison.output, comparison.at): comparison.metrics for comparison in comparisons_of(before)}
    for comparison in result.comparisons:
        if old.get((comparison.output, comparison.at), {}).get(COARSE) != comparison.metrics.get(COARSE):
            continue  # budgets of two tolerances say nothing of each other
        for name, (was, now) in increased(old.get((comparison.output, comparison.at), {}), comparison.metrics).items():
            text = (
                f"changed: the {name.removeprefix('budget_')} error of output '{comparison.output}' is {now:.3g} noise widths, "
                f"it was {was:.3g} in run {identity}"
            )
            return msgspec.structs.replace(verdict, reason=f"{verdict.reason}; {text}")
    return verdict

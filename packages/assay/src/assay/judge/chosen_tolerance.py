"""A recorded result under another choice of tolerance: what a run with that choice would have recorded, from what was seen then."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.case import Contract
from assay.core.comparison import Comparison
from assay.core.job import ChangeJob, VerifyJob
from assay.core.job_base import FlowJob, Job
from assay.core.repeats import Repeats
from assay.core.result import Result, VerifyResult
from assay.core.result_parts import LossResult
from assay.errors import UsageError
from assay.judge.job_outcome import as_observed, with_outcome
from assay.numerics.element_types import real_name
from assay.numerics.tolerance.default import limits
from assay.numerics.tolerance.fixed_limits import by_limits
from assay.numerics.tolerance.tolerance_tables import DERIVED, with_table

BY_THE_JOB = ("precision", "drift", "task", "schedule")
"""Kinds of findings that no comparison of an output holds."""


def with_choice(job: Job, choice: str) -> Job:
    """The job as it would have been asked with that choice."""
    contract = replace(job.case.contract, tolerance=choice)
    return replace(job, case=replace(job.case, contract=contract))


def by_choice(result: Result, job: Job, choice: str) -> Result:
    """The result of `job` as judged by `choice`. Raises UsageError where the choice needs a derived tolerance and none was asked for."""
    if not isinstance(result, LossResult) or not _has_a_tolerance(job) or choice == job.case.contract.tolerance:
        return result
    if not result.comparisons:
        return result
    contract = _contract(job)
    if choice == DERIVED and "*" not in contract.tolerances:
        raise UsageError(
            f"{job.key}: no tolerance was derived, because the run chose '{contract.tolerance}'; check again with --tolerance derived"
        )
    contract = replace(contract, tolerance=choice)
    comparisons = tuple(_comparison_by(comparison, contract) for comparison in result.comparisons)
    compared = {comparison.output for comparison in comparisons}
    kept = (finding for finding in result.findings if finding.output not in compared or finding.kind in BY_THE_JOB)
    findings = (*kept, *(finding for comparison in comparisons if not comparison.at for finding in comparison.findings))
    if isinstance(result, VerifyResult):
        result = replace(result, repeats=_repeats_by(result.repeats, contract))
    readable = all(finding.kind in ("values", "schedule") for finding in findings)
    again = replace(
        as_observed(result),
        comparisons=comparisons,
        findings=findings,
        task_metrics=result.task_metrics if readable else {},
    )
    return with_outcome(again, with_choice(job, choice))


def _repeats_by(repeats: Repeats, contract: Contract) -> Repeats:
    instabilities = tuple(
        replace(
            instability,
            apart=tuple(_comparison_by(other, contract) for other in instability.apart),
            against_reference=tuple(_comparison_by(other, contract) for other in instability.against_reference),
        )
        for instability in repeats.found
    )
    return replace(repeats, found=instabilities)


def _has_a_tolerance(job: Job) -> bool:
    """Not error cases and function bodies, which have limits of their own."""
    return isinstance(job, ChangeJob) or (
        isinstance(job, VerifyJob) and job.case.misuse is None and job.case.body is None
    )


def _contract(job: Job) -> Contract:
    """As the worker has it: at the precision that the flow promises, and of a change by the names of the original."""
    contract, original = job.case.contract, job.case.original
    if isinstance(job, FlowJob):
        return replace(contract, precision=job.flow.precision)
    if original is None:
        return contract
    named = {original.outputs.get(name, name): limit for name, limit in contract.tolerances.items()}
    return replace(contract, precision=original.precision, tolerances=named)


def _comparison_by(comparison: Comparison, contract: Contract) -> Comparison:
    """Other sizes and other inputs are judged by the default limits, whatever is chosen."""
    if comparison.evidence is None or comparison.at:
        return comparison
    chosen = contract if comparison.evidence.by_default else with_table(contract)
    rtol, atol = limits(chosen, comparison.output, real_name(comparison.dtype), comparison.evidence.rms)
    whose = "chosen" if comparison.output in chosen.tolerances or "*" in chosen.tolerances else "default"
    return replace(by_limits(comparison, rtol, atol), tolerance=whose, excused=())

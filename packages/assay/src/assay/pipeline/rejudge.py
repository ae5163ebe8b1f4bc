"""Judge recorded results again, under another policy or by another tolerance: nothing runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.policy import Policy
from assay.core.reference import Witness
from assay.core.result import Result, VerifyResult
from assay.core.result_parts import facts_of
from assay.core.run import Run
from assay.judge.chosen_tolerance import by_choice, with_choice
from assay.judge.witnesses import Doubt, Side, agrees, doubt_of, library_of_reference, side_of
from assay.numerics.tolerance.tolerance_tables import DERIVED
from assay.pipeline.adapters import Services
from assay.pipeline.kept_files.run_files import with_files
from assay.pipeline.open_run import Checked, judge_run
from assay.pipeline.witnesses.witness_flows import quantizing
from assay.plugins import library_of


def rejudge(run_id: str, policy: Policy | None, services: Services, *, tolerance: str = "") -> Checked:
    """`policy` None, `tolerance` "": those that the run was made with. The history keeps the original words. Raises UsageError where a
    derived tolerance is asked for and the run has none."""
    run = services.store.run(run_id)
    run = replace(run, status=services.standing(run.id, run.status), policy=policy or run.policy)
    results = with_files(run, services.store.results(run.id), services)
    if tolerance:
        run, results = _by_tolerance(run, results, tolerance)
    return Checked(run, tuple(results), judge_run(run, results, services))


def _by_tolerance(run: Run, results: Sequence[Result], choice: str) -> tuple[Run, list[Result]]:
    jobs: dict[str, Job] = {job.key: job for job in run.jobs}
    again = [
        by_choice(result, jobs[result.job_key], choice) if result.job_key in jobs else result for result in results
    ]
    known = [(jobs[result.job_key], result) for result in results if result.job_key in jobs]
    again = [_with_witnesses(result, jobs, known) for result in again]
    return replace(run, jobs=tuple(with_choice(job, choice) for job in run.jobs)), again


def _with_witnesses(result: Result, jobs: dict[str, Job], known: Sequence[tuple[Job, Result]]) -> Result:
    """Nobody was asked about a reference that nobody doubted. Engines of the run that agreed with it, each by the tolerance that follows
    from its arithmetic, are its witnesses, the engine itself included: a narrower limit makes the reference no worse."""
    job = jobs.get(result.job_key)
    if not isinstance(result, VerifyResult) or not isinstance(job, VerifyJob):
        return result
    if doubt_of(result) is not Doubt.REFERENCE or side_of(result)[0] is not Side.UNASKED:
        return result
    witnesses = tuple(
        Witness(other.flow.name, library_of(other.flow), facts_of(theirs).backend_version, agrees_with_reference=True)
        for other, theirs in known
        if isinstance(other, VerifyJob)
        and _is_witness(other, job)
        and library_of(other.flow) != library_of_reference(result)
        and _agrees(theirs, other)
    )
    return replace(result, witnesses=(*witnesses, *result.witnesses)) if witnesses else result


def _is_witness(other: VerifyJob, job: VerifyJob) -> bool:
    if other.case.name != job.case.name:
        return False
    return other.flow.transforms == quantizing(job) and (
        bool(other.flow.transforms) or other.flow.precision in ("float32", "float64")
    )


def _agrees(result: Result, job: VerifyJob) -> bool:
    """By the derived tolerance, or by the multiple of the unit roundoff where none was derived and the model has no grid."""
    contract = job.case.contract
    if contract.tolerance == DERIVED and not contract.tolerances:
        return agrees(result) is True
    if job.flow.transforms:
        return False
    plain = replace(job, case=replace(job.case, contract=replace(contract, tolerances={})))
    return agrees(by_choice(result, plain, "default")) is True

"""Derived tolerances: computed once per model, inputs and arithmetic, by a job of their own, shared by all flows."""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core.digest import sha256_bytes, value_digest
from assay.core.golden import WHOLE
from assay.core.job import (
    AnyJob,
    ChangeJob,
    DeriveToleranceJob,
    JudgedJob,
    ToleranceJob,
    VerifyJob,
    other_kind,
)
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import BadGolden
from assay.models.companion_goldens import lock_of_companion
from assay.models.goldens import read_lock
from assay.models.tolerance_file import coarse_of, read_header
from assay.numerics.tolerance.arithmetic import TIES, ties_of, with_ties
from assay.numerics.tolerance.derived_tolerance import VERSION
from assay.numerics.tolerance.tolerance_tables import DERIVED
from assay.pipeline.adapters import Services
from assay.pipeline.references.ensure_references import shortened
from assay.pipeline.references.originals import identity, is_quantized, made_by, tolerance_of

EVALUATIONS = 100.0
"""A derivation takes some ten times as long as the evaluation in double, which is known to end: one that takes so many times as long,
and longer than a job may, does not end."""

_Job = TypeVar("_Job", bound=Job)
Failed = dict[str, Result]
"""What a derivation that did not end well gave, by the folder of its profile."""


async def with_tolerances(jobs: Sequence[_Job], services: Services) -> list[_Job]:
    """The same jobs, each that is judged by a derived tolerance, or asks for one, with the folder of its profile; those that are not there
    yet, or not as they were written, are derived first. A derivation that fails costs no job: verify says that there is none, and why."""
    return (await ensure_tolerances(jobs, services))[0]


async def ensure_tolerances(
    jobs: Sequence[_Job], services: Services, *, coarse: bool = False
) -> tuple[list[_Job], Failed]:
    """The same, and the derivations that failed. `coarse`: a coarse tolerance will do where the derived one is not there and would
    take long; then that is the job's profile (`is_coarse`)."""
    placed = [_placed(job, services.folder) for job in jobs]
    judged = [job for job in placed if isinstance(job, ToleranceJob)]
    failed = await derive(
        [job for job in judged if not (coarse and _there(coarse_of(job.tolerance_dir)))], services, coarse=coarse
    )
    if not coarse:
        return placed, failed
    known: dict[str, bool] = {}
    return [_by_coarse(job, known) for job in placed], failed


def _by_coarse(job: _Job, known: dict[str, bool]) -> _Job:
    """With the coarse tolerance where there is no other; `known` is filled with what lies in each folder."""
    if not isinstance(job, JudgedJob) or not (folder := job.tolerance_dir):
        return job
    if folder not in known:
        known[folder] = not _there(folder) and _there(coarse_of(folder))
    return msgspec.structs.replace(job, tolerance_dir=coarse_of(folder)) if known[folder] else job


def is_coarse(job: JudgedJob) -> bool:
    """Whether a job is judged by a coarse tolerance, by its folder."""
    return bool(job.tolerance_dir) and job.tolerance_dir == coarse_of(derived_of(job.tolerance_dir))


def derived_of(folder: str) -> str:
    """Where the derived tolerance lies, or will, beside the coarse one."""
    return folder.removesuffix(coarse_of(""))


async def derive(jobs: Sequence[ToleranceJob], services: Services, *, coarse: bool = False) -> Failed:
    """Every profile that is not there; returns the derivations that did not end well."""
    failed: Failed = {}
    missing = [job for job in jobs if job.tolerance_dir and not _there(job.tolerance_dir)]
    for digest in dict.fromkeys(job.case.model.digest for job in missing):
        own = [job for job in missing if job.case.model.digest == digest]
        async with services.jobs.lock(f"tolerances of {digest}"):
            failed |= await _derive(own, services, coarse)
    return failed


async def _derive(jobs: Sequence[ToleranceJob], services: Services, coarse: bool) -> Failed:
    missing = {job.tolerance_dir: job for job in jobs if job.tolerance_dir and not _there(job.tolerance_dir)}
    derivations = {folder: _derivation(job, coarse, services) for folder, job in missing.items()}
    by_key = {job.key: job for job in _joined(list(derivations.values()))}
    failed: Failed = {}
    async for result in services.jobs.results(list(by_key.values())):
        if result.outcome is not Outcome.OK:
            tolerance_job = by_key[result.job_key]
            failed.update(dict.fromkeys((tolerance_job.tolerance_dir, *tolerance_job.tied.values()), result))
    return failed


def _joined(derivations: Sequence[DeriveToleranceJob]) -> list[DeriveToleranceJob]:
    """One job for those that differ in their rule for ties alone, which have most of their work in common."""
    by_common: dict[str, DeriveToleranceJob] = {}
    for job in derivations:
        untied = msgspec.structs.replace(job, allowances=with_ties(job.allowances, ""), tolerance_dir="")
        common = value_digest((untied,))
        first = by_common.setdefault(common, job)
        if first is not job:
            tied = {**first.tied, ties_of(job.allowances): job.tolerance_dir}
            by_common[common] = msgspec.structs.replace(first, tied=tied)
    return list(by_common.values())


def _there(folder: str) -> bool:
    return read_header(Path(folder)) is not None


def _wants(job: ToleranceJob) -> bool:
    contract = job.case.contract
    if isinstance(job, ChangeJob) and (job.case.original is None or is_quantized(job.case.original)):
        return False
    return contract.tolerance == DERIVED and "*" not in contract.tolerances


def _derivation(job: ToleranceJob, coarse: bool, services: Services) -> DeriveToleranceJob:
    """By the arithmetic, whatever the backend; it takes some ten times as long as the model itself, and has the time."""
    precision, allowances = _arithmetic(job)
    tolerance_job = tolerance_of(job)
    limits = msgspec.structs.replace(
        job.limits, timeout_s=time_left_s(job.limits, services.evaluated_s.get(tolerance_job.reference_dir))
    )
    return other_kind(
        tolerance_job, DeriveToleranceJob, precision=precision, allowances=allowances, limits=limits, coarse=coarse
    )


def time_left_s(limits: Limits, evaluated_s: float | None) -> float:
    """For a derivation. It and the reference answers, where the first oracle took `evaluated_s` for them in this run (infinite: more
    than it had), share one limit of time."""
    if evaluated_s is None:
        return limits.deriving_s
    if (
        evaluated_s == math.inf
    ):  # it used up its limit: what takes ten times as long is waited for only where a user says so
        return max(limits.derive_s - limits.timeout_s, 1.0)
    most = limits.deriving_s if limits.derive_s else max(limits.timeout_s, EVALUATIONS * evaluated_s)
    return max(min(most, limits.deriving_s) - evaluated_s, 1.0)


async def late_tolerances(jobs: Sequence[AnyJob], services: Services, *, coarse: bool) -> list[VerifyJob]:
    """Those jobs with answers of their own whose tolerance is not there soon. Where it is, it is kept."""
    late: list[VerifyJob] = []
    for job in jobs:
        if not isinstance(job, VerifyJob) or job.reference_dir:
            continue
        folder = (placed := _placed(job, services.folder)).tolerance_dir
        if not folder or _there(folder) or (coarse and _there(coarse_of(folder))):
            continue
        trial = msgspec.structs.replace(_derivation(placed, coarse, services), limits=shortened(job.limits))
        async with services.jobs.lock(f"tolerances of {job.case.model.digest}"):
            result = await services.jobs.run(trial)
        if result.outcome is Outcome.TIMEOUT:
            late.append(job)
    return late


def _placed(tolerance_job: _Job, history: Path) -> _Job:
    """The folder named by everything that the profile depends on."""
    if not isinstance(tolerance_job, ToleranceJob) or not _wants(tolerance_job):
        return tolerance_job
    job = tolerance_of(tolerance_job)
    inputs = job.case.inputs
    lock = Path(inputs.golden) / "golden.lock" if inputs.golden else Path(job.reference_dir) / "golden.lock"
    try:
        if inputs.golden and read_lock(Path(inputs.golden)).form != WHOLE:
            return tolerance_job  # what it keeps is judged by a limit of its own
        text = sha256_bytes(lock.read_bytes() + lock_of_companion(lock.parent)) if inputs.golden else ""
    except (OSError, BadGolden):
        return tolerance_job
    recipe = (text, inputs.seed, inputs.samples, inputs.fewer, inputs.batch, inputs.fill, Path(inputs.given).name)
    stated = [setting for setting in (inputs.dims, inputs.ranges) if setting]
    key = (
        job.case.model.digest,
        recipe,
        *stated,
        *_arithmetic(tolerance_job),
        *identity(job.case),
        *made_by(job.case.model.format),
        VERSION,
    )
    return msgspec.structs.replace(
        tolerance_job, tolerance_dir=str((history / "profiles" / value_digest(key)[:32]).absolute())
    )


def _arithmetic(job: ToleranceJob) -> tuple[str, tuple[str, ...]]:
    """Precision and allowances: those that the flow or the job states, or the coarsest type that a change of the model brings."""
    if isinstance(job, VerifyJob):
        return job.flow.precision, _of_use(job.flow.allowances, job.case.model)
    if isinstance(job, DeriveToleranceJob):
        return job.precision, _of_use(job.allowances, job.case.model)
    original = job.case.original
    return (original.precision if original is not None else "float32"), ()


def _of_use(allowances: tuple[str, ...], model: Model) -> tuple[str, ...]:
    """Those that this model has a use for: flows that differ in others share a profile."""
    double = any(tensor_spec.dtype == "float64" for tensor_spec in (*model.inputs, *model.outputs))
    useless = {"flush-to-zero", *(() if double else ("double-in-float32",))}
    if any(allowance in TIES for allowance in allowances) and not _names_any(_GRIDS, model.source, model.digest):
        useless.update(TIES)
    if "rounded-chirps" in allowances and not _names_any(_TRANSFORMS, model.source, model.digest):
        useless.add("rounded-chirps")
    return tuple(allowance for allowance in allowances if allowance not in useless)


_GRIDS = (b"QuantizeLinear", b"QLinear", b"quantize_per")
_TRANSFORMS = (b"DFT", b"STFT", b"fft")
"""What a file has where it names an operator that rounds to a grid, and one that is a Fourier transform."""


@cache
def _names_any(names: tuple[bytes, ...], source: str, digest: str) -> bool:
    """Whether the file has one of them; of what is no file, or cannot be read, nothing is known. The digest says which file it was."""
    del digest
    try:
        with Path(source).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(name) >= 0 for name in names)
    except (OSError, ValueError):
        return True

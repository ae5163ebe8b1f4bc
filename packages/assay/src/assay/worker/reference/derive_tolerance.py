"""Derive the tolerance of a case for one arithmetic, once for all flows that promise it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.empty_result import empty_result
from assay.core.job import DeriveToleranceJob
from assay.core.note import Note
from assay.core.outcome import Stage
from assay.core.result import DeriveToleranceResult
from assay.errors import Lowering, UsageError
from assay.models.tolerance_file import coarse_of, write_tolerance
from assay.numerics.load_onnx import load_onnx
from assay.numerics.tolerance.arithmetic import arithmetic_of, with_ties
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header
from assay.ports import Tensors
from assay.worker.describe_exception import reason_of
from assay.worker.engine.calibration import evaluation_split
from assay.worker.engine.model_format import to_onnx
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.reference.learned_tolerance import learned_tolerance
from assay.worker.stages import Stages


def derive_tolerance(job: DeriveToleranceJob, stages: Stages) -> DeriveToleranceResult:
    """Writes a profile at `job.tolerance_dir`, and one in each folder of `job.tied`: of an exported program by the graph that torch makes
    of it. A model that it cannot be derived for gets one that says why: that is no failure of the model."""
    golden = evaluation_split(job, load_golden(job))
    folders = (job.tolerance_dir, *job.tied.values())
    with stages.enter(Stage.TRANSFORM):
        graph = _graph(job)
    with stages.enter(Stage.RUN):
        try:
            derived_tolerances = (
                [no_tolerance(graph, job.precision)] * len(folders)
                if isinstance(graph, Note)
                else _derived(graph, golden.inputs, job)
            )
        except (Lowering, UsageError) as error:
            derived_tolerances = [no_tolerance(reason_of(error), job.precision)] * len(folders)
    with stages.enter(Stage.SAVE):
        for folder, profile in zip(folders, derived_tolerances, strict=True):
            write_tolerance(Path(coarse_of(folder) if profile.header.coarse else folder), profile)
    return empty_result(job)


def _graph(job: DeriveToleranceJob) -> Path | Note:
    """Or why there is none: said within its stage, after which what the converter imported is accepted. Importing torch's exporter (2.13)
    sets a variable, and each job that was refused needed a new process."""
    try:
        return to_onnx(Path(job.case.model.source), job)
    except (Lowering, UsageError) as error:
        return reason_of(error)


def _derived(model: Path, inputs: Sequence[Tensors], job: DeriveToleranceJob) -> list[DerivedTolerance]:
    """By the model's evaluation in double; where it has none, learnt from a plain engine. Raises Lowering with the reason of the
    first, and UsageError for a precision without arithmetic."""

    from assay.numerics.tolerance.derive import derive_each

    own = job.allowances
    each = [own, *(with_ties(own, rule) for rule in job.tied)]
    given, precision = job.case.inputs, job.precision
    seed, stated = given.seed, None if given.golden or given.given else given.ranges
    try:
        return derive_each(load_onnx(model), inputs, precision, each, seed=seed, coarse=job.coarse, stated=stated)
    except Lowering as error:
        jobs = [msgspec.structs.replace(job, allowances=allowance) for allowance in each]
        try:
            return [learned_tolerance(model, inputs, variant, reason_of(error)) for variant in jobs]
        except Lowering:
            raise error from None


def no_tolerance(reason: Note, precision: str) -> DerivedTolerance:
    """One that says why there is none."""
    return DerivedTolerance(Header(precision, arithmetic_of("float32"), seed=0, samples=0, reason=reason))

"""Derive the tolerance of a case for one arithmetic, once for all flows that promise it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.empty_result import empty_result
from assay.core.job import Job
from assay.core.result import Result, Stage
from assay.errors import Lowering, UsageError
from assay.models.tolerances import coarse_of, write_tolerance
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header
from assay.ports import Tensors
from assay.worker.engine.calibration import evaluation_split
from assay.worker.engine.model_format import to_onnx
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.reference.learned_tolerance import learned_tolerance
from assay.worker.stages import Stages


def derive_tolerance(job: Job, stages: Stages) -> Result:
    """Writes a profile at `job.profile`: of an exported program by the graph that torch makes of it. A model that it cannot be
    derived for gets one that says why: that is no failure of the model."""
    golden = evaluation_split(job, load_golden(job))
    with stages.enter(Stage.RUN):
        try:
            profile = _derived(to_onnx(Path(job.case.model.source), job), golden.inputs, job)
        except (Lowering, UsageError) as error:
            profile = missing_reason(_text(error), job.flow.precision)
    with stages.enter(Stage.SAVE):
        write_tolerance(Path(coarse_of(job.profile) if profile.header.coarse else job.profile), profile)
    return msgspec.structs.replace(empty_result(job), detail=profile.header.reason)


def _derived(model: Path, inputs: Sequence[Tensors], job: Job) -> DerivedTolerance:
    """By the model's evaluation in double; where it has none, learnt from a plain engine. Raises Lowering with the reason of the
    first, and UsageError for a precision without arithmetic."""
    from assay.numerics.tolerance.derive import derive as derived

    seed, allowances = job.case.inputs.seed, tuple(job.flow.allowances)
    try:
        return derived(model, inputs, job.flow.precision, seed=seed, allowances=allowances, coarse=job.coarse)
    except Lowering as error:
        try:
            return learned_tolerance(model, inputs, job, _text(error))
        except Lowering:
            raise error from None


def _text(error: Exception) -> str:
    return " ".join(str(error).split())[:500]


def missing_reason(reason: str, precision: str) -> DerivedTolerance:
    """A profile that says why there is none."""
    return DerivedTolerance(Header(precision, arithmetic_of("float32"), seed=0, samples=0, reason=reason))

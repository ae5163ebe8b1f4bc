"""Derive the tolerance of a case for one arithmetic, once for all flows that promise it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.blank import blank_result
from assay.core.job import Job
from assay.core.result import Result, Stage
from assay.errors import Lowering, UsageError
from assay.models.profiles import coarse_of, write_profile
from assay.numerics.tolerance.contract import arithmetic_of
from assay.numerics.tolerance.profile import Header, Profile
from assay.ports import Tensors
from assay.worker.calibration import judged
from assay.worker.forms import as_graph
from assay.worker.learning import learnt
from assay.worker.samples import golden_of
from assay.worker.stages import Stages


def derive(job: Job, stages: Stages) -> Result:
    """Writes a profile at `job.profile`: of an exported program by the graph that torch makes of it. A model that it cannot be
    derived for gets one that says why: that is no failure of the model."""
    golden = judged(job, golden_of(job))
    with stages.enter(Stage.RUN):
        try:
            profile = _profile(as_graph(Path(job.case.model.source), job), golden.inputs, job)
        except (Lowering, UsageError) as error:
            profile = underived(_text(error), job.flow.precision)
    with stages.enter(Stage.SAVE):
        write_profile(Path(coarse_of(job.profile) if profile.header.coarse else job.profile), profile)
    return msgspec.structs.replace(blank_result(job), detail=profile.header.reason)


def _profile(model: Path, inputs: Sequence[Tensors], job: Job) -> Profile:
    """By the model's evaluation in double; where it has none, learnt from a plain engine. Raises Lowering with the reason of the
    first, and UsageError for a precision without arithmetic."""
    from assay.numerics.tolerance.derive import derive as derived

    seed, allowances = job.case.inputs.seed, tuple(job.flow.allowances)
    try:
        return derived(model, inputs, job.flow.precision, seed=seed, allowances=allowances, coarse=job.coarse)
    except Lowering as error:
        try:
            return learnt(model, inputs, job, _text(error))
        except Lowering:
            raise error from None


def _text(error: Exception) -> str:
    return " ".join(str(error).split())[:500]


def underived(reason: str, precision: str) -> Profile:
    """A profile that says why there is none."""
    return Profile(Header(precision, arithmetic_of("float32"), seed=0, samples=0, reason=reason))

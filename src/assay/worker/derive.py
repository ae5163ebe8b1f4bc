"""Derive the tolerance of a case for one arithmetic, once for all flows that promise it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.core.blank import blank_result
from assay.core.job import Job
from assay.core.result import Result, Stage
from assay.errors import Lowering, UsageError
from assay.models.profiles import write_profile
from assay.numerics.tolerance.contract import arithmetic_of
from assay.numerics.tolerance.profile import Header, Profile
from assay.worker.calibration import judged
from assay.worker.forms import as_graph
from assay.worker.samples import golden_of
from assay.worker.stages import Stages


def derive(job: Job, stages: Stages) -> Result:
    """Writes a profile at `job.profile`: of an exported program by the graph that torch makes of it. A model that it cannot be
    derived for gets one that says why: that is no failure of the model."""
    from assay.numerics.tolerance.derive import derive as derived

    golden = judged(job, golden_of(job))
    precision, allowances = job.flow.precision, tuple(job.flow.allowances)
    with stages.enter(Stage.RUN):
        try:
            profile = derived(
                as_graph(Path(job.case.model.source), job),
                golden.inputs,
                precision,
                seed=job.case.inputs.seed,
                allowances=allowances,
            )
        except (Lowering, UsageError) as error:
            profile = underived(" ".join(str(error).split())[:500], precision)
    with stages.enter(Stage.SAVE):
        write_profile(Path(job.profile), profile)
    return msgspec.structs.replace(blank_result(job), detail=profile.header.reason)


def underived(reason: str, precision: str) -> Profile:
    """A profile that says why there is none."""
    return Profile(Header(precision, arithmetic_of("float32"), seed=0, samples=0, reason=reason))

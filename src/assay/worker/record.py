"""Look at a model and its golden, and record reference outputs."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.blank import blank_result
from assay.core.golden import REFERENCE
from assay.core.job import Job
from assay.core.result import Result, Stage
from assay.models.goldens import read_golden, write_golden
from assay.models.sources import open_source
from assay.worker.lower import load, lower
from assay.worker.samples import source_of
from assay.worker.stages import Stages


def inspect(job: Job, stages: Stages) -> Result:
    """`Result.model` describes the file. Raises BadModel or BadGolden: the file is not looked at anywhere else."""
    with stages.enter(Stage.LOAD):
        model = open_source(Path(job.case.model.source))
        if job.case.inputs.golden:
            read_golden(Path(job.case.inputs.golden), model_digest=model.digest, model=model)
    return msgspec.structs.replace(blank_result(job), model=model)


def record(job: Job, stages: Stages) -> Result:
    """Run the flow (the oracle, mostly) on the inputs and write a golden folder at `job.reference`."""
    inputs, labels = source_of(job)
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    with stages.enter(Stage.RUN):
        outputs = [engine.run(sample) for sample in inputs]
    with stages.enter(Stage.SAVE):
        facts = lowered.facts(engine)
        write_golden(
            Path(job.reference),
            model=job.case.model,
            inputs=inputs,
            outputs=outputs,
            labels=labels,
            seed=job.case.inputs.seed,
            producer=job.flow.name,
            producer_version=facts.backend_version,
            who=getpass.getuser(),
            why=job.why or REFERENCE,
            allow_nan=not job.why or job.why.startswith(REFERENCE),
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    return msgspec.structs.replace(blank_result(job), facts=facts)

"""The other reading of the standard has seconds of its own: however long its evaluation takes, witnesses are asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from assay.core.engine_info import EngineInfo
from assay.core.finding import Finding
from assay.core.flow import Flow
from assay.core.job import ReferenceJob, VerifyJob
from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.reference import Reference, ReferenceKind
from assay.core.result import Result
from assay.judge.witnesses import Side, side_of
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import JobGraph, result_of
from assay.pipeline.witnesses.ask_witnesses import BUDGET_S, Witnessed
from assay.pipeline.witnesses.other_reading import OTHER
from assay.ports import Availability
from assay.testing.builders import make_comparison, make_job, make_result

F64 = Reference(ReferenceKind.ORACLE, "reference-f64", "1.23", "reference", "faulty")


class _Slow:
    """An evaluator that takes all the time by the other reading, an engine that is wrong by both, and witnesses that are right."""

    async def results(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        for job in jobs:
            if isinstance(job, ReferenceJob) and job.flow == OTHER:
                facts = EngineInfo(options={"reading": "fractional_length"})
                result = make_result(kind="compute_reference", seconds=BUDGET_S + 1, facts=facts)
            elif isinstance(job, VerifyJob) and job.flow.backend == "faulty":
                compared = make_comparison(budget_used=9.0, findings=(Finding("values", "scores"),))
                result = make_result(outcome=Outcome.MISMATCH, comparisons=(compared,), reference=F64)
            else:
                result = make_result()
            yield replace(result, job_key=job.key)


def test_a_slow_other_reading_leaves_the_witnesses_their_time(tmp_path: Path) -> None:
    job = make_job(flow="faulty", reference_dir=str(tmp_path / "oracle"))
    assert isinstance(job, VerifyJob)

    def here(flow: Flow) -> Availability:
        return Availability(True)

    services = Services(tmp_path, *[cast(Any, None)] * 5, available=here)
    asked = JobGraph(cast(Any, None), cast(Any, None)).complete(result_of(Witnessed(services, _Slow()), job))
    assert side_of(cast(Any, asked))[0] is Side.REFERENCE

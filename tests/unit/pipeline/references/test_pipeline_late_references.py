"""A model that never ends costs its time limit once: in its engine, which nobody asks twice."""

from __future__ import annotations

import math
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from assay.core.case import Case, Inputs
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.golden import GoldenLock
from assay.core.job import (
    AnyJob,
    DeriveToleranceJob,
    MeasureJob,
    ReferenceJob,
    VerifyJob,
)
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import JobGraph
from assay.pipeline.references.late_references import engines_out_of_time, left_unasked, not_answered
from assay.pipeline.references.tolerances import time_left_s
from assay.ports import JobSource


class _Workers:
    """All that is of one of `late` kinds reaches its time limit."""

    def __init__(self, *late: type[Job], stage: Stage = Stage.RUN) -> None:
        self.late, self.stage = late, stage
        self.asked: list[tuple[str, float]] = []

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            self.asked.append((job.kind.value, job.limits.timeout_s))
            late = isinstance(job, self.late)
            ended = empty_result(job, Outcome.TIMEOUT if late else Outcome.OK)
            yield replace(ended, stage=self.stage, seconds=0.5, detail="no answer" if late else "")


def _ended(workers: _Workers, folder: Path, golden: str = "") -> list[Result]:
    case = Case("net", Model("net", "net:model", "1", format="torch"), Inputs(golden=golden))
    reference = "" if golden else str(folder / "oracle")
    limits = Limits(timeout_s=60.0)
    jobs: list[AnyJob] = [
        kind(case, Flow("ort", "ort"), limits=limits, reference_dir=reference) for kind in (VerifyJob, MeasureJob)
    ]
    graph = JobGraph(workers, workers)
    services = Services(folder, cast(Any, None), graph, *[cast(Any, None)] * 3)
    return services.jobs.complete(engines_out_of_time(jobs, services, coarse=True))


def test_a_slow_oracle_is_left_for_the_engine_and_what_neither_ends_costs_its_limit_once(tmp_path: Path) -> None:
    workers = _Workers(ReferenceJob, VerifyJob)
    verified, measured = _ended(workers, tmp_path)
    assert workers.asked == [("compute_reference", 6.0), ("verify", 60.0)]
    assert (verified.outcome, measured.outcome) == (Outcome.TIMEOUT, Outcome.TIMEOUT)
    assert measured.detail == "not asked: no answer, when its answers were to be verified"


def test_an_engine_that_ends_goes_the_usual_way(tmp_path: Path) -> None:
    workers = _Workers(ReferenceJob)
    assert _ended(workers, tmp_path) == []
    assert workers.asked == [("compute_reference", 6.0), ("verify", 60.0)]


def test_a_quick_oracle_costs_nothing_more(tmp_path: Path) -> None:
    workers = _Workers(VerifyJob)
    assert _ended(workers, tmp_path) == []
    assert workers.asked == [("compute_reference", 6.0)]


def test_the_tolerance_of_a_golden_is_tried_in_the_same_way(tmp_path: Path) -> None:
    golden = tmp_path / "golden"
    golden.mkdir()
    lock = GoldenLock("1", "net", 1, 0, "oracle", "1", "", "", "", ())
    (golden / "golden.lock").write_bytes(msgspec.json.encode(lock))
    workers = _Workers(DeriveToleranceJob, VerifyJob)
    assert len(_ended(workers, tmp_path, str(golden))) == 2
    assert workers.asked == [("derive_tolerance", 6.0), ("verify", 60.0)]


@pytest.mark.parametrize(("stage", "engine"), [(Stage.LOWER, True), (Stage.RUN, True), (Stage.COMPARE, False)])
def test_what_takes_long_beside_the_engine_is_not_the_engines(stage: Stage, engine: bool) -> None:
    case = Case("net", Model("net", "net.onnx", "1"))
    jobs: list[AnyJob] = [VerifyJob(case, Flow(name, name)) for name in ("a", "b")]
    jobs.append(MeasureJob(case, Flow("a", "a")))
    result = replace(empty_result(jobs[0], Outcome.TIMEOUT), stage=stage)
    assert not_answered(result) is engine
    assert [answer.job_key for answer in left_unasked(jobs, result)] == ["net|a|measure"]


@pytest.mark.parametrize(
    ("limits", "evaluated_s", "left_s"),
    [
        (Limits(timeout_s=60.0), None, 240.0),
        (Limits(timeout_s=60.0), 0.5, 59.5),
        (Limits(timeout_s=60.0), 1.5, 148.5),
        (Limits(timeout_s=60.0), 40.0, 200.0),
        (Limits(timeout_s=60.0, derive_s=90.0), 0.5, 89.5),
        (Limits(timeout_s=60.0, derive_s=30.0), 40.0, 1.0),
        (Limits(timeout_s=60.0), math.inf, 1.0),
        (Limits(timeout_s=60.0, derive_s=90.0), math.inf, 30.0),
    ],
)
def test_reference_and_derivation_share_one_limit(limits: Limits, evaluated_s: float | None, left_s: float) -> None:
    assert time_left_s(limits, evaluated_s) == left_s

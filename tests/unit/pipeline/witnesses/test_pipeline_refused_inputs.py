"""Where an engine refuses inputs that nobody gave, others are asked; whose fault it is follows from what they say."""

from __future__ import annotations

from collections.abc import Generator
from datetime import date
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from assay.core.case import Case, Inputs
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import MeasureJob, VerifyJob
from assay.core.model import Model
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge import judge
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import JobGraph
from assay.pipeline.witnesses.refused_inputs import RefusedInputs
from assay.ports import Availability, JobSource

DISABLED, OPENVINO, TORCH = "onnxruntime-disable", "openvino-f32", "torch-eager"
HERE = Flow("onnxruntime", "onnxruntime")


class _Workers:
    """Flows called `refusing` say no while they run; all others take everything."""

    def __init__(self, *refusing: str) -> None:
        self.refusing, self.asked = refusing, list[str]()

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            self.asked.append(job.subject)
            refused = replace(
                empty_result(job, Outcome.ERROR), cause=Cause.REFUSED, stage=Stage.RUN, detail="an index is too large."
            )
            yield refused if job.subject in self.refusing else empty_result(job)


def _result(workers: _Workers, folder: Path, inputs: Inputs = Inputs(), *flows: Flow) -> Result:
    jobs = [_job(inputs, flow) for flow in (HERE, *flows)]
    services = Services(folder, cast(Any, None), JobGraph(workers, workers), *[cast(Any, None)] * 3)
    object.__setattr__(services, "available", lambda flow: Availability(True))

    async def results() -> list[Result]:
        return [result async for result in RefusedInputs(services, services.jobs).results(jobs)]

    return next(result for result in services.jobs.complete(results()) if result.flow == HERE.name)


def _job(inputs: Inputs, flow: Flow, kind: type[VerifyJob] | type[MeasureJob] = VerifyJob) -> VerifyJob | MeasureJob:
    return kind(Case("net", Model("net", "net.onnx", "1", format="torch"), inputs), flow)


def _verdicts(*results: Result, policy: Policy = Policy()) -> list[Verdict]:
    asked = {
        result.job_key: _job(Inputs(), HERE, MeasureJob if result.kind == "measure" else VerifyJob)
        for result in results
    }
    keys = [result.job_key for result in results]
    return list(
        judge(results, policy, planned=keys, today=date(2026, 11, 25), narrowed=True, jobs_by_key=asked).verdicts
    )


def test_an_engine_that_takes_its_inputs_costs_nobody_anything(tmp_path: Path) -> None:
    workers = _Workers()
    assert _result(workers, tmp_path).witnesses == ()
    assert workers.asked == ["onnxruntime"]


@pytest.mark.parametrize(
    ("refusing", "asked", "word"),
    [
        ((), [DISABLED], VerdictStatus.FAIL),
        ((DISABLED,), [DISABLED], VerdictStatus.INCONCLUSIVE),
        ((DISABLED, OPENVINO), [DISABLED], VerdictStatus.INCONCLUSIVE),
    ],
)
def test_inputs_that_another_refuses_are_in_doubt(
    tmp_path: Path, refusing: tuple[str, ...], asked: list[str], word: VerdictStatus
) -> None:
    workers = _Workers(HERE.name, *refusing)
    result = _result(workers, tmp_path)
    assert workers.asked == [HERE.name, *asked]
    (verdict,) = _verdicts(result)
    assert verdict.word is word


def test_an_engine_of_the_run_is_a_witness_as_well(tmp_path: Path) -> None:
    workers = _Workers(HERE.name, DISABLED)
    result = _result(workers, tmp_path, Inputs(), Flow("openvino-f32", "openvino"))
    assert workers.asked == [HERE.name, OPENVINO, DISABLED]
    assert [(witness.flow, witness.takes_inputs) for witness in result.witnesses] == [
        (OPENVINO, True),
        (DISABLED, False),
    ]
    (verdict,) = _verdicts(result)
    assert verdict.reason == (
        "the inputs are in doubt: nobody gave any, and onnxruntime and onnxruntime-disable refuse those that were drawn (an index is too "
        "large), and openvino-f32 takes them; to decide it, give inputs of your own: `assay check net.onnx --flow onnxruntime --inputs "
        "FILE.npz`; or state sizes and values of these with --dim, --input-range and --input-value"
    )


def test_an_engine_whose_own_library_takes_them_without_its_optimizer_is_at_fault(tmp_path: Path) -> None:
    workers = _Workers(HERE.name, "onnxruntime-basic")
    result = _result(workers, tmp_path, Inputs(), Flow("onnxruntime-basic", "onnxruntime"))
    assert [(witness.flow, witness.takes_inputs) for witness in result.witnesses] == [
        ("onnxruntime-basic", False),
        (DISABLED, True),
    ]
    assert _verdicts(result)[0].word is VerdictStatus.FAIL


@pytest.mark.parametrize("inputs", [Inputs(golden="g"), Inputs(given="g")])
def test_inputs_of_a_user_are_not_in_doubt(tmp_path: Path, inputs: Inputs) -> None:
    workers = _Workers(HERE.name, DISABLED)
    result = _result(workers, tmp_path, inputs)
    assert (workers.asked, result.witnesses) == ([HERE.name], ())
    assert _verdicts(result)[0].word is VerdictStatus.FAIL


def test_a_measurement_that_ends_at_the_same_inputs_is_no_fault_either(tmp_path: Path) -> None:
    result = _result(_Workers(HERE.name, DISABLED), tmp_path)
    blank = empty_result(_job(Inputs(), HERE, MeasureJob), Outcome.ERROR)
    measured = replace(blank, cause=Cause.REFUSED, stage=Stage.MEASURE, detail="an index is too large")
    words = [verdict.word for verdict in _verdicts(result, measured)]
    assert words == [VerdictStatus.INCONCLUSIVE] * 2
    assert [verdict.word for verdict in _verdicts(measured)] == [VerdictStatus.FAIL]
    strict = Policy(fail_on=frozenset({"error", "mistrusted"}))
    assert [verdict.word for verdict in _verdicts(result, policy=strict)] == [VerdictStatus.FAIL]

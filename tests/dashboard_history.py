"""A history that pages are shown of: what is red, newly red, newly green, flaky and inconclusive, and names that try to be markup."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from pathlib import Path

from msgspec.structs import replace

from assay.core.job import AnyJob
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.judge.verdicts import judge
from assay.stores.sql import SqlStore
from assay.testing.builders import make_comparison, make_job, make_measurement, make_result, make_run

FLOWS = ("onnxruntime", "openvino-f16", "tvm")
HOSTILE = "<script>alert(1)</script>/../..\"'&?x=1#"
WELL, RED, GREEN, FLAKY, UNDECIDED = "digits-classifier", "operators/conv2d-pads", "relu", "softmax", "zeros"
CASES = (WELL, RED, GREEN, FLAKY, UNDECIDED, HOSTILE)
RUNS = 12
COMMIT = "4be1f0a2c0ffee00000000000000000000000000"


def run_id(number: int) -> str:
    return f"202611{number + 10}T021500-{number:06x}"


def dashboard_history(folder: Path) -> str:
    """The folder, as --history takes it."""
    store = SqlStore(str(folder / "history.db"))
    fill_history(store)
    store.close()
    return str(folder)


def fill_history(store: SqlStore) -> None:
    for number in range(RUNS):
        jobs = tuple(make_job(case, flow, kind) for case in CASES for flow in FLOWS for kind in _kinds(case))
        run = make_run(
            run_id(number),
            jobs,
            started_at=f"2026-11-{number + 10}T02:15:00+00:00",
            commit=f"{number:040x}" if number < RUNS - 1 else COMMIT,
        )
        store.open_run(run)
        results = [_result(job, number) for job in jobs]
        store.record(run.id, results)
        store.close_run(run.id, "complete", _judged(results, jobs))


def skipped_history(folder: Path) -> str:
    """One run that passes, in which 9 of 12 jobs were skipped: those of three flows that are not installed."""
    flows = ("onnxruntime", "iree", "openvino", "tvm")
    jobs = tuple(make_job(case, flow) for case in (WELL, GREEN, FLAKY) for flow in flows)
    run = make_run(run_id(0), jobs)
    results = [make_result(job.case.name, job.subject, **_absent(job)) for job in jobs]
    with closing(SqlStore(str(folder / "history.db"))) as store:
        store.open_run(run)
        store.record(run.id, results)
        store.close_run(
            run.id,
            "complete",
            judge(results, run.policy, planned=[job.key for job in jobs], today=date(2026, 11, 26)),
        )
    return str(folder)


def _absent(job: AnyJob) -> dict[str, Outcome]:
    return {} if job.subject == "onnxruntime" else {"outcome": Outcome.UNAVAILABLE}


def _kinds(case: str) -> tuple[str, ...]:
    return ("verify", "measure") if case == WELL else ("verify",)


def _result(job: AnyJob, number: int) -> Result:
    made = make_result(job.case.name, job.subject, job.kind)
    if job.kind == "measure":
        slow = 0.0005 if number < 8 else 0.0006
        return replace(made, measurements=(make_measurement(median_s=slow * (1 + 0.002 * (number % 3))),))
    wrong = replace(
        made, outcome=Outcome.MISMATCH, comparisons=(make_comparison(budget_used=3.2),), detail="output 'scores'"
    )
    last = number == RUNS - 1
    match job.case.name, job.subject:
        case (name, "tvm") if name == RED and last:
            return wrong
        case (name, _) if name == GREEN and not last:
            return replace(made, outcome=Outcome.CRASH, signal="SIGSEGV", cause=Cause.SIGNAL, detail="died of SIGSEGV")
        case (name, "tvm") if name == FLAKY and number % 2:
            return replace(made, outcome=Outcome.TIMEOUT, detail="60 s are over")
        case (name, _) if name == UNDECIDED:
            return replace(made, outcome=Outcome.MISTRUSTED)
        case (name, "tvm") if name == HOSTILE:
            return replace(made, outcome=Outcome.ERROR, detail=HOSTILE, log=f"\x1b[31m{HOSTILE}")
        case _:
            return made


def _judged(results: list[Result], jobs: tuple[AnyJob, ...]) -> RunVerdict:
    verdict = judge(results, make_run("x", jobs).policy, planned=[job.key for job in jobs], today=date(2026, 11, 26))
    assert any(candidate.word is VerdictStatus.FAIL for candidate in verdict.verdicts)
    return replace(verdict, run=Verdict(VerdictStatus.FAIL, "1 job fails"))

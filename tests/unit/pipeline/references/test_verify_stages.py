"""By a coarse tolerance first: what passes is done, what does not waits for the derived one, and is never wrong before."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from assay.core.case import Case, Inputs
from assay.core.comparison import Comparison
from assay.core.empty_result import empty_result
from assay.core.finding import Finding
from assay.core.flow import Flow
from assay.core.input_plan import InputRange
from assay.core.job import DeriveToleranceJob, VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.policy import Goal, Policy
from assay.core.result import Result, StageTime
from assay.core.run import Run
from assay.models.tolerance_file import coarse_of, read_header, write_tolerance
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import JobGraph, result_of
from assay.pipeline.references.tolerances import ensure_tolerances, is_coarse
from assay.pipeline.references.verify_stages import VerifyStages, coarse_suffices
from assay.ports import JobSource

WRONG = Finding("values", "y")
SHAPE = Finding("shape", "y")
PLAIN = Inputs()


class _Workers:
    """Derive as they are asked, coarsely where they may, and judge by what lies in the folder: a budget used for each kind."""

    def __init__(self, coarse: float, fine: float, *, derives: Outcome = Outcome.OK, finding: Finding = WRONG) -> None:
        self.used, self.derives, self.finding = {True: coarse, False: fine}, derives, finding
        self.asked: list[str] = []

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            if isinstance(job, DeriveToleranceJob):
                self.asked.append(f"derive{' coarse' if job.coarse else ''}")
                yield self._derived(job)
            else:
                assert isinstance(job, VerifyJob)
                self.asked.append(f"verify{' coarse' if is_coarse(job) else ''}")
                yield self._verified(job)

    def _derived(self, job: DeriveToleranceJob) -> Result:
        if not job.coarse and self.derives is not Outcome.OK:
            return empty_result(job, self.derives)
        header = Header("float32", arithmetic_of("float32"), 0, 0, reason=noted(NoteCode.NO_NUMBERS), coarse=job.coarse)
        write_tolerance(
            Path(coarse_of(job.tolerance_dir) if job.coarse else job.tolerance_dir), DerivedTolerance(header)
        )
        return empty_result(job)

    def _verified(self, job: VerifyJob) -> Result:
        assert read_header(Path(job.tolerance_dir)) is not None
        used = self.used[is_coarse(job)]
        findings = (self.finding,) if used > 1 else ()
        compared = Comparison("y", "float32", (4,), 1, 4, metrics={"budget_used": used}, findings=findings)
        outcome = Outcome.MISMATCH if findings else Outcome.OK
        return msgspec.structs.replace(empty_result(job, outcome), comparisons=(compared,))


def _verified(
    workers: _Workers, folder: Path, *, coarse: bool = True, scratch: str = "", inputs: Inputs = PLAIN
) -> Result:
    case = Case("net", Model("net", "", "1"), inputs)
    job = VerifyJob(case, Flow("ort", "ort"), reference_dir=str(folder / "oracle"), scratch=scratch)
    services = Services(folder, cast(Any, None), JobGraph(workers, workers), *[cast(Any, None)] * 3)
    result = services.jobs.complete(result_of(VerifyStages(services, coarse=coarse), job))
    assert result.job_key == job.key
    return result


def test_what_passes_by_the_coarse_tolerance_needs_no_other(tmp_path: Path) -> None:
    workers = _Workers(0.9, 0.3)
    assert _verified(workers, tmp_path).outcome is Outcome.OK
    assert workers.asked == ["derive coarse", "verify coarse"]
    # Kept: the next run does not derive anything.
    workers.asked.clear()
    _verified(workers, tmp_path)
    assert workers.asked == ["verify coarse"]


@pytest.mark.parametrize(
    "inputs",
    [Inputs(ranges={"x": InputRange(1e30, 1e30)}), Inputs(dims={"n": (1, 2, 3)}), Inputs(seed=1)],
)
def test_other_inputs_have_a_tolerance_of_their_own(tmp_path: Path, inputs: Inputs) -> None:
    workers = _Workers(0.9, 0.3)
    for each_inputs in (PLAIN, inputs, inputs):
        _verified(workers, tmp_path, inputs=each_inputs)
    assert workers.asked == ["derive coarse", "verify coarse"] * 2 + ["verify coarse"]


def test_another_code_derives_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What draws the inputs may have changed, and with it what they are judged by."""
    workers = _Workers(0.9, 0.3)
    _verified(workers, tmp_path)
    monkeypatch.setattr("assay.pipeline.references.tolerances.made_by", lambda form: ("another", form))
    _verified(workers, tmp_path)
    assert workers.asked == ["derive coarse", "verify coarse"] * 2


@pytest.mark.parametrize(("fine", "outcome"), [(0.4, Outcome.OK), (1.7, Outcome.MISMATCH)])
def test_what_does_not_is_judged_by_the_derived_one(tmp_path: Path, fine: float, outcome: Outcome) -> None:
    workers = _Workers(2.0, fine)
    result = _verified(workers, tmp_path)
    assert (result.outcome, result.comparisons[0].metrics["budget_used"]) == (outcome, fine)
    assert workers.asked == ["derive coarse", "verify coarse", "derive", "verify"]


def test_a_derivation_that_takes_too_long_leaves_it_open_and_says_what_would_decide_it(tmp_path: Path) -> None:
    result = _verified(_Workers(2.0, 1.7, derives=Outcome.TIMEOUT), tmp_path)
    assert result.outcome is Outcome.MISTRUSTED
    assert result.detail == (
        "by a coarse tolerance, which is narrower than the derived one, the budget used is 2, neither right nor wrong: the "
        "derivation did not end in its 1200 s: raise --derive-timeout, or derive-timeout-s in [limits]"
    )
    assert not result.comparisons[0].findings


def test_what_no_tolerance_excuses_is_wrong_without_one(tmp_path: Path) -> None:
    result = _verified(_Workers(2.0, 2.0, derives=Outcome.TIMEOUT, finding=SHAPE), tmp_path)
    assert (result.outcome, result.comparisons[0].findings) == (Outcome.MISMATCH, (SHAPE,))


def test_the_derived_one_comes_first_where_its_figures_are_asked_for(tmp_path: Path) -> None:
    workers = _Workers(0.9, 0.3)
    _verified(workers, tmp_path, coarse=False)
    assert workers.asked == ["derive", "verify"]
    run = Run("1", "", "", (), Policy(), cast(Any, None), {}, "")
    assert coarse_suffices(run)
    for policy in (
        Policy(budget_max=0.5),
        *(Policy(goals=(Goal(metric, max=1.0),)) for metric in ("budget_used", "y.budget_norm")),
    ):
        assert not coarse_suffices(msgspec.structs.replace(run, policy=policy))
    assert coarse_suffices(msgspec.structs.replace(run, policy=Policy(goals=(Goal("median", max=1.0),))))
    assert not coarse_suffices(msgspec.structs.replace(run, baseline="earlier"))


def test_flows_that_differ_in_their_rule_for_ties_have_one_derivation(tmp_path: Path) -> None:
    """The file names a grid; another precision is another derivation."""
    file = tmp_path / "net.onnx"
    file.write_bytes(b"QuantizeLinear")
    case = Case("net", Model("net", str(file), "1"), Inputs())
    flows = [
        Flow("ort", "ort", allowances=("rounded-chirps", "ties-after-zero-point")),
        Flow("openvino", "openvino", allowances=("elementwise-ties-after-zero-point",)),
        Flow("plain", "plain"),
        Flow("half", "ort", precision="float16"),
    ]
    jobs = [VerifyJob(case, flow, reference_dir=str(tmp_path / "oracle"), save_outputs=flow.name) for flow in flows]
    asked: list[Job] = []

    class Derives:
        def launch(self, source: JobSource) -> Generator[Result, None, None]:
            while (job := source.next_ready()) is not None:
                asked.append(job)
                yield empty_result(job, Outcome.TIMEOUT)

    workers = Derives()
    services = Services(tmp_path, cast(Any, None), JobGraph(workers, workers), *[cast(Any, None)] * 3)
    placed, failed = services.jobs.complete(ensure_tolerances(jobs, services))
    assert [job.subject for job in asked] == ["derive-float32-ties-after-zero-point", "derive-float16"]
    assert [list(job.tied) for job in asked] == [["elementwise-ties-after-zero-point", ""], []]
    assert [asked[0].tolerance_dir, *asked[0].tied.values(), asked[1].tolerance_dir] == [
        job.tolerance_dir for job in placed
    ]
    assert set(failed) == {job.tolerance_dir for job in placed}, "a derivation that fails is told of every flow"


def test_what_lowering_took_is_told_though_the_second_job_did_not_lower(tmp_path: Path) -> None:
    class Handed(_Workers):
        def _verified(self, job: VerifyJob) -> Result:
            assert job.artifact_dir == f"{tmp_path}/scratch/engines"
            first = [StageTime(Stage.IMPORT, 0.5), StageTime(Stage.LOWER, 9.0), StageTime(Stage.SAVE, 0.25)]
            stages = [*(first if is_coarse(job) else [StageTime(Stage.IMPORT, 0.1)]), StageTime(Stage.RUN, 1.0)]
            return msgspec.structs.replace(super()._verified(job), stage_times=tuple(stages), seconds=2.0)

    result = _verified(Handed(2.0, 0.4), tmp_path, scratch=f"{tmp_path}/scratch")
    took = [(time.stage, time.seconds) for time in result.stage_times]
    assert took == [(Stage.IMPORT, 0.5), (Stage.LOWER, 9.0), (Stage.SAVE, 0.25), (Stage.RUN, 1.0)]
    assert result.seconds == 11.75

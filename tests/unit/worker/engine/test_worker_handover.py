"""An engine that is judged twice is lowered once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.onnxruntime.engine import OnnxRuntimeEngine
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.result_parts import native_warnings_of
from assay.judge.job_outcome import with_outcome
from assay.worker import dispatch
from assay.worker.stages import Stages
from small_models import golden_for, linear_model


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of every engine that was lowered, and not loaded."""
    seen: list[str] = []
    lower = OnnxRuntime.lower

    def counted(self: OnnxRuntime, model: Path, flow: Flow) -> Any:
        seen.append(str(flow.options.get("optimization", "all")))
        warnings.warn("said while it was lowered", stacklevel=1)
        return lower(self, model, flow)

    monkeypatch.setattr(OnnxRuntime, "lower", counted)
    return seen


@pytest.fixture
def job(tmp_path: Path) -> Job:
    path = linear_model(tmp_path / "linear.onnx")
    case = Case("linear", golden_for(path, tmp_path / "golden"), Inputs(golden=str(tmp_path / "golden")))
    flow = Flow("onnxruntime", "onnxruntime")
    once = Limits(repeat_share=0.0)  # no second engine beside the one that is judged
    return VerifyJob(case, flow, limits=once, artifact_dir=str(tmp_path / "engines"), scratch=str(tmp_path / "scratch"))


def _run(job: Job) -> Result:
    return with_outcome(dispatch.execute(job, Stages(lambda stage: None)), job)


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is off by one."""
    run = OnnxRuntimeEngine.run
    monkeypatch.setattr(
        OnnxRuntimeEngine, "run", lambda self, fed: {name: array + 1 for name, array in run(self, fed).items()}
    )


@pytest.mark.usefixtures("wrong")
def test_what_is_not_right_yet_is_loaded_by_the_job_that_asks_again(job: Job, lowered: list[str]) -> None:
    first, second = _run(job), _run(job)
    assert first.outcome is second.outcome is Outcome.MISMATCH
    assert len(lowered) == 1
    assert Stage.LOWER in [time.stage for time in first.stage_times]
    assert Stage.LOWER not in [time.stage for time in second.stage_times]
    assert first.comparisons == second.comparisons
    assert first.facts == second.facts
    assert all(
        "said while it was lowered" in [said.text for said in native_warnings_of(result)] for result in (first, second)
    )


@pytest.mark.usefixtures("wrong")
def test_without_a_folder_to_leave_it_in_it_is_lowered_each_time(job: Job, lowered: list[str]) -> None:
    job = replace(job, artifact_dir="")
    _run(job)
    _run(job)
    assert len(lowered) == 2


@pytest.mark.usefixtures("wrong")
def test_another_flow_of_that_name_has_an_engine_of_its_own(job: Job, lowered: list[str]) -> None:
    _run(job)
    _run(replace(job, flow=replace(job.flow, options={"optimization": "disable"})))
    assert lowered == ["all", "disable"]


def test_what_passes_leaves_nothing(job: Job, lowered: list[str]) -> None:
    assert _run(job).outcome is Outcome.OK
    assert lowered == ["all"]
    assert not Path(job.artifact_dir).exists()


@pytest.mark.usefixtures("wrong")
def test_an_engine_that_was_changed_meanwhile_is_lowered_again(job: Job, lowered: list[str]) -> None:
    _run(job)
    file = next(path for path in Path(job.artifact_dir).rglob("artifact/*") if path.is_file())
    file.write_bytes(file.read_bytes()[:-1])
    _run(job)
    assert len(lowered) == 2

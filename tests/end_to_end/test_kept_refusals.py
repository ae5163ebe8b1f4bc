"""What `assay check` keeps of a refusal: those that took long, believed at once the next time, and never an artifact."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.cli.main import app
from assay.commands.composition import open_services
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job, JobKind, RefusalCache
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import Unsupported
from assay.judge.words.note_text import note_text
from assay.models.artifacts import Artifacts, CachedFailure, artifacts_folder
from assay.models.onnx_file import open_model
from assay.worker.engine import artifact_cache
from assay.worker.stages import Stages
from judged_job import execute_judged as execute

FLOW = Flow("onnxruntime", "onnxruntime")
REFUSED = Unsupported("there is no such operator", node="n7", cause="operator_unsupported")


@pytest.fixture
def job(linear: Path, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "scratch").mkdir()
    case = Case("own/linear", open_model(linear), Inputs(golden=str(golden)))
    return VerifyJob(case, FLOW, scratch=str(tmp_path / "scratch"), refusals=RefusalCache.USED)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The models that the backend was asked to lower; it refuses all of them, and that counts as slow."""
    models: list[Path] = []

    def refusing(self, model, flow):  # type: ignore[no-untyped-def]
        models.append(model)
        raise REFUSED

    monkeypatch.setattr(OnnxRuntime, "lower", refusing)
    monkeypatch.setattr(artifact_cache, "SLOW_S", 0.0)
    return models


def _run(job: Job) -> Result:
    return execute(job, Stages(lambda stage: None))


def test_a_slow_refusal_is_had_at_once_the_second_time_and_says_so(job: Job, asked: list[Path]) -> None:
    first, second = _run(job), _run(job)
    assert len(asked) == 1
    ends = [(result.outcome, result.cause, result.ended, result.node, result.stage) for result in (first, second)]
    assert ends[0] == ends[1]
    assert ends[0][0] is Outcome.UNSUPPORTED
    (note,) = second.notes
    assert note.code == NoteCode.KEPT_REFUSAL
    assert not first.notes


def test_other_options_lower_again(job: Job, asked: list[Path]) -> None:
    _run(job)
    _run(msgspec.structs.replace(job, flow=msgspec.structs.replace(FLOW, options={"optimization": "basic"})))
    assert len(asked) == 2


def test_no_cache_lowers_again_and_what_was_kept_is_replaced(
    job: Job, asked: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = msgspec.structs.replace(job, refusals=RefusalCache.RENEWED)
    _run(job)
    assert not _run(renewed).notes
    assert len(asked) == 2
    assert _run(job).notes  # kept again
    assert len(asked) == 2
    monkeypatch.undo()
    monkeypatch.setenv("ASSAY_CACHE", str(Path(job.scratch).parent / "cache"))
    assert _run(renewed).outcome is Outcome.OK
    assert _run(job).outcome is Outcome.OK  # not the refusal of yesterday


def test_a_refusal_that_took_no_time_is_not_kept(job: Job, asked: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_cache, "SLOW_S", 60.0)
    _run(job)
    _run(job)
    assert len(asked) == 2


def test_no_artifact_is_kept_and_none_is_loaded(job: Job) -> None:
    assert _run(job).outcome is Outcome.OK
    assert not list(Artifacts(artifacts_folder()).entries())
    assert _run(msgspec.structs.replace(job, reuse=True)).facts.reused == ""
    assert _run(job).facts.reused == ""


def test_the_note_names_when_and_how_long_and_the_way_to_try_again() -> None:
    refusal = CachedFailure("no", "", "", artifact_cache._BUILDING[1], at="2026-11-24T10:00:00+00:00", seconds=94.25)
    assert note_text(artifact_cache.refusal_note(refusal)) == (
        "not lowered again: this is the kept refusal of 2026-11-24T10:00:00+00:00, which took 94.2 s, of the same model on the "
        "same flow, options and versions; --no-cache lowers it again"
    )


@pytest.mark.parametrize(("words", "verifying"), [((), RefusalCache.USED), (("--no-cache",), RefusalCache.RENEWED)])
def test_check_asks_its_jobs_for_it(
    words: tuple[str, ...], verifying: RefusalCache, linear: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["check", str(linear), "--flow", "onnxruntime", *words])
    assert done.exit_code in (0, 3), done.output
    with open_services(".assay") as services:
        (run,) = [services.store.run(old_run.id) for old_run in services.store.runs()]
    assert {act.kind: act.refusals for act in run.jobs} == {
        JobKind.VERIFY: verifying,
        JobKind.MEASURE: RefusalCache.USED,
    }

"""The folder that a worker lends from job to job."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.note_text import note_text
from assay.testing.builders import make_job
from assay.worker import dispatch
from assay.worker.scratch_dir import ARTIFACT, scratch_dir
from assay.worker.stages import Stages


def test_it_is_empty_for_each_job_but_for_what_a_library_remembers(tmp_path: Path) -> None:
    before = tempfile.tempdir
    with scratch_dir(str(tmp_path)) as own:
        assert tempfile.gettempdir() == own
        for name in ("left", "torchinductor_someone", ARTIFACT):
            Path(own, name).mkdir()
            Path(own, name, "file").write_text("x")
        Path(own, "file").write_text("x")
    assert tempfile.tempdir == before
    with scratch_dir(str(tmp_path)) as again:
        assert again == own
        paths = sorted(str(path.relative_to(own)) for path in Path(own).rglob("*"))
    assert paths == sorted([ARTIFACT, "torchinductor_someone", "torchinductor_someone/file"])


def test_a_job_without_a_scratch_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch_dir(""):
        Path(tempfile.mkdtemp(), "left").touch()
    assert tempfile.tempdir == str(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("needed", "outcome", "said"),
    [(1 << 62, Outcome.INFRASTRUCTURE, "the disk of "), (0, Outcome.ERROR, "while in start")],
)
def test_what_fails_on_a_full_disk_is_no_fault_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needed: int, outcome: Outcome, said: str
) -> None:
    monkeypatch.setattr(dispatch, "FULL_BYTES", needed)
    job = make_job(scratch=str(tmp_path), reference_dir=str(tmp_path / "absent"))
    monkeypatch.setattr(dispatch, "_handler_of", lambda task: _breaks)
    result = dispatch.execute(job, Stages(lambda stage: None))
    assert result.outcome is outcome
    assert said in note_text(result.ended)


def _breaks(job: Job, stages: Stages) -> Result:
    raise RuntimeError("a write failed, in words of its own")

"""What fails where the disk is full."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.words.note_text import note_text
from assay.testing.builders import make_job
from assay.worker import dispatch, full_disk
from assay.worker.stages import Stages


@pytest.mark.parametrize(
    ("needed", "outcome", "said"),
    [(1 << 62, Outcome.INFRASTRUCTURE, "the disk of "), (0, Outcome.ERROR, "while in start")],
)
def test_what_fails_on_a_full_disk_is_no_fault_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needed: int, outcome: Outcome, said: str
) -> None:
    monkeypatch.setattr(full_disk, "FULL_BYTES", needed)
    job = make_job(scratch=str(tmp_path), reference_dir=str(tmp_path / "absent"))
    monkeypatch.setattr(dispatch, "_handler_of", lambda task: _breaks)
    result = dispatch.execute(job, Stages(lambda stage: None))
    assert result.outcome is outcome
    assert said in note_text(result.ended)


def _breaks(job: Job, stages: Stages) -> Result:
    raise RuntimeError("a write failed, in words of its own")

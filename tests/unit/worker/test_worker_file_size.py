"""The largest file that a job may write."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.note_text import note_text
from assay.testing.builders import make_job
from assay.worker import dispatch, file_size
from assay.worker.stages import Stages

MOST = 1 << 20


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr(file_size, "SHARE", 0.0)
    monkeypatch.setattr(file_size, "LEAST_BYTES", MOST)
    file_size.limit_file_size()
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _writes(job: Job, stages: Stages) -> Result:
    Path(job.scratch, "large").write_bytes(bytes(2 * MOST))
    raise AssertionError


def _in_words_of_its_own(job: Job, stages: Stages) -> Result:
    with suppress(OSError):
        Path(job.scratch, "large").write_bytes(bytes(2 * MOST))
    raise RuntimeError("basic_ios::clear")


def _lowers(job: Job, stages: Stages) -> Result:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return _writes(job, stages)


def _fails(job: Job, stages: Stages) -> Result:
    raise RuntimeError("something else")


@pytest.mark.parametrize(
    ("handler", "outcome"),
    [
        (_writes, Outcome.INFRASTRUCTURE),
        (_in_words_of_its_own, Outcome.INFRASTRUCTURE),
        (_lowers, Outcome.ERROR),
        (_fails, Outcome.ERROR),
    ],
)
@pytest.mark.usefixtures("limited")
def test_a_file_that_would_fill_the_disk_is_stopped_and_blames_nobody(
    handler: object, outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_handler_of", lambda kind: handler)
    result = dispatch.execute(make_job(scratch=str(tmp_path)), Stages(lambda stage: None))
    assert result.outcome is outcome
    assert ("a file of 1,048,576 bytes or more" in note_text(result.ended)) is (outcome is Outcome.INFRASTRUCTURE)


def test_a_lower_limit_of_the_machine_stays(monkeypatch: pytest.MonkeyPatch, limited: None) -> None:
    monkeypatch.setattr(file_size, "LEAST_BYTES", 1 << 40)
    file_size.limit_file_size()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == MOST

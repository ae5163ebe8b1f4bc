"""The folder that a worker lends from job to job."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from assay.worker.scratch_dir import ARTIFACT, scratch_dir


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

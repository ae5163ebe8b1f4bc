"""The folder that a worker lends from job to job."""

from __future__ import annotations

import tempfile
from pathlib import Path

from assay.worker.scratch import ARTIFACT, lent


def test_it_is_empty_for_each_job_but_for_what_a_library_remembers(tmp_path: Path) -> None:
    before = tempfile.tempdir
    with lent(str(tmp_path)) as own:
        assert tempfile.gettempdir() == own
        for name in ("left", "torchinductor_someone", ARTIFACT):
            Path(own, name).mkdir()
            Path(own, name, "file").write_text("x")
        Path(own, "file").write_text("x")
    assert tempfile.tempdir == before
    with lent(str(tmp_path)) as again:
        assert again == own
        found = sorted(str(one.relative_to(own)) for one in Path(own).rglob("*"))
    assert found == sorted([ARTIFACT, "torchinductor_someone", "torchinductor_someone/file"])

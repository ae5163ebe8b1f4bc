"""A backend that has removed the folder it was to write to is told as what it raised, and not as a full disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.worker.full_disk import full_disk_reported
from assay.worker.scratch_dir import artifact_folder


def test_what_it_raised_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="its own words"), full_disk_reported(str(tmp_path / "gone")):
        raise RuntimeError("its own words")


def test_an_engine_is_saved_to_a_folder_that_is_there(tmp_path: Path) -> None:
    assert artifact_folder(str(tmp_path / "gone")).is_dir()

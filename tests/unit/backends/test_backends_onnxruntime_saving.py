"""Folders in which ONNX Runtime leaves its optimized graph until somebody saves it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from assay.backends.onnxruntime_saving import free_folder, give_back
from assay.worker.scratch_dir import scratch_dir


def test_what_nobody_saved_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = free_folder()
    (own / "model.onnx").touch()
    another = free_folder()
    assert another != own
    give_back(own)
    give_back(another)
    assert [list(folder.iterdir()) for folder in tmp_path.iterdir()] == [[]]
    assert free_folder() == own


def test_an_engine_may_outlive_the_folder_of_its_job() -> None:
    """It is given back when the engine is collected, which may be after the job."""
    with scratch_dir(""):
        folder = free_folder()
    assert not folder.exists()
    give_back(folder)

"""The artifact of a baseline that is not what it was: changed, or not there."""

from __future__ import annotations

from pathlib import Path

from assay.core.note import NoteCode, noted
from assay.core.speed import BaselineEngine
from assay.models.artifacts import changed
from assay.models.files import folder_digest
from assay.testing.builders import make_flow, make_model


def test_an_artifact_that_is_gone_is_not_called_changed(tmp_path: Path) -> None:
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    (artifact / "engine").write_text("1")
    rival = BaselineEngine("old", make_flow(), make_model(), str(artifact), folder_digest(artifact)[1])
    assert changed(rival) is None
    (artifact / "engine").write_text("2")
    assert changed(rival) == noted(NoteCode.ARTIFACT_CHANGED, path=str(artifact))
    (artifact / "engine").unlink()
    artifact.rmdir()
    assert changed(rival) == noted(NoteCode.ARTIFACT_GONE, path=str(artifact))

"""Answers of the reference that are gone, or altered, while a run uses them: no fault of the engine that is compared with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.case import Inputs
from assay.core.outcome import Outcome
from assay.judge.note_text import note_text
from assay.testing.builders import make_job
from assay.worker.dispatch import execute
from assay.worker.stages import Stages


@pytest.mark.parametrize(("golden", "outcome"), [("", Outcome.INFRASTRUCTURE), ("golden", Outcome.ERROR)])
def test_a_reference_of_our_own_that_is_gone_blames_nobody(tmp_path: Path, golden: str, outcome: Outcome) -> None:
    job = make_job(scratch=str(tmp_path), reference_dir=str(tmp_path / "gone"))
    job = replace(job, case=replace(job.case, inputs=Inputs(golden=golden and str(tmp_path / golden))))
    result = execute(job, Stages(lambda stage: None))
    assert result.outcome is outcome
    assert "is no folder" in note_text(result.ended)

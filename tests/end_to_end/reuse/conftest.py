"""A job whose lowered artifact is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from reused_job import FLOW

from assay.core.case import Case, Inputs
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.models.onnx_file import open_model


@pytest.fixture
def job(linear: Path, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "scratch").mkdir()
    case = Case("own/linear", open_model(linear), Inputs(golden=str(golden)))
    return VerifyJob(case, FLOW, scratch=str(tmp_path / "scratch"), reuse=True)

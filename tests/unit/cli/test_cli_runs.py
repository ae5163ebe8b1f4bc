"""The list of runs."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from assay.cli.main import app
from dashboard_history import dashboard_history, skipped_history


def test_a_run_that_passes_says_how_many_jobs_were_skipped(tmp_path: Path) -> None:
    listed = CliRunner().invoke(app, ["runs", "--history", skipped_history(tmp_path)])
    assert "  pass           3 passed, 0 failed, 9 skipped  " in listed.stdout


def test_of_a_run_that_fails_the_others_are_not_all_skipped(tmp_path: Path) -> None:
    listed = CliRunner().invoke(app, ["runs", "--limit", "1", "--history", dashboard_history(tmp_path)])
    assert "  fail " in listed.stdout
    assert "other  " in listed.stdout

"""examples/release: from a release over a block and its alert to the rollback and the audit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples/release/release.py"


def test_a_release_a_block_an_alert_a_rollback_and_the_audit(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "release")], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr
    story = (
        "release 1",
        "release 2",
        "FAIL",
        "blocks, and the chat is told",
        "current again: classifier on onnxruntime",
        "PASS",
        "rollback  classifier on onnxruntime",
        "[assay] blocked: classifier on model-change: mismatch",
        "assay alert mute",
        "[assay] recovered: classifier on model-change: mismatch",
    )
    assert [line for line in story if line not in process.stdout] == [], process.stdout
    assert "services/token" not in process.stdout + process.stderr

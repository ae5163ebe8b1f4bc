"""examples/release: from a release over a block and its alert to the rollback and the audit."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import run_assay

SCRIPT = Path(__file__).parents[2] / "examples/release/release.py"
START = [sys.executable, "-m", "assay"]


def test_a_release_a_block_an_alert_a_rollback_and_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script and its seven commands in this process: each would import for a second, and others start as a user starts them."""
    started = subprocess.run
    commands: list[str] = []

    def run(words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if words[: len(START)] != START:
            return started(words, **options)
        commands.append(words[len(START)])
        return run_assay(*words[len(START) :])

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(tmp_path / "release")])
    monkeypatch.setenv("CHAT_URL", "")  # as it was, afterwards: the script sets it
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(SCRIPT), run_name="__main__")
    text = capsys.readouterr().out
    assert commands == ["baseline", "baseline", "check", "alert", "baseline", "check", "audit"]
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
    assert [line for line in story if line not in text] == [], text
    assert "services/token" not in text

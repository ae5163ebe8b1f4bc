"""The process that inspects: it ends with its reason, its time, its robot, and sees no secret."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from assay_zoo.robot.inspection_process import Ending, inspect_in_child


def _root(folder: Path) -> Path:
    root = folder / "zoo"
    (root / "submissions" / "a").mkdir(parents=True)
    (root / "submissions" / "a" / "README.md").write_text("# x\n")
    (root / "zoo.toml").write_text('name = "tiny"\n')
    (folder / "scratch").mkdir()
    return root


def _inspections() -> list[psutil.Process]:
    """The processes of this test that inspect; one that ends while it is looked at is none."""
    seen = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if "assay_zoo.robot.inspection_main" in child.cmdline():
                seen.append(child)
    return seen


def test_a_child_that_is_killed_costs_one_attempt_and_names_the_signal(tmp_path: Path) -> None:
    root = _root(tmp_path)

    def kill() -> bool:
        for child in _inspections():
            os.kill(child.pid, signal.SIGKILL)
        return True

    ended = inspect_in_child(
        root, "a", str(tmp_path / "history"), tmp_path / "scratch", limit_s=600, beat=kill, beat_s=0.2,
        stopping=lambda: False, heard=lambda _: None,
    )  # fmt: skip
    assert ended.ending is Ending.FAILED
    assert ended.sentence.startswith("the inspection was ended by SIGKILL")


@pytest.mark.parametrize(
    ("ending", "limit_s", "beat", "stop"),
    [(Ending.LOST, 600.0, False, False), (Ending.STOPPED, 600.0, True, True), (Ending.FAILED, 0.3, True, False)],
)
def test_a_child_never_outlives_its_reason(
    ending: Ending, limit_s: float, beat: bool, stop: bool, tmp_path: Path
) -> None:
    ended = inspect_in_child(
        _root(tmp_path), "a", str(tmp_path / "history"), tmp_path / "scratch", limit_s=limit_s, beat=lambda: beat,
        beat_s=0.1, stopping=lambda: stop, heard=lambda _: None,
    )  # fmt: skip
    assert ended.ending is ending
    assert not _inspections()


def test_the_child_sees_no_secret_and_dies_with_the_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret-1")
    monkeypatch.setenv("ASSAY_ROBOT_TOKEN", "secret-2")
    seen: list[dict[str, str]] = []

    def look() -> bool:
        seen.extend(child.environ() for child in _inspections())
        return not seen

    ended = inspect_in_child(
        _root(tmp_path), "a", "postgresql+psycopg://u:password@nowhere/h", tmp_path / "scratch", limit_s=600, beat=look,
        beat_s=0.2, stopping=lambda: False, heard=lambda _: None, hidden=["ASSAY_ROBOT_TOKEN"],
    )  # fmt: skip
    assert ended.ending is Ending.LOST
    assert "secret" not in json.dumps(seen)
    assert "PATH" in seen[0]


def test_an_orphaned_child_ends_itself(tmp_path: Path) -> None:
    asked = {"root": str(_root(tmp_path)), "name": "a", "history": str(tmp_path / "h"), "out": str(tmp_path / "out")}
    child = subprocess.Popen(
        [sys.executable, "-m", "assay_zoo.robot.inspection_main"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(json.dumps(asked).encode() + b"\n")
    child.stdin.close()  # what the kernel does when the robot is killed
    assert child.wait(300) == -signal.SIGKILL
    assert not (tmp_path / "out").exists()

"""A run that shares its history, fills the disk, is killed or interrupted: what was recorded stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from refusals import run_assay

from assay.stores.journal import journal_held
from small_models import golden_for


def test_two_runs_on_one_history_at_once(linear: Path) -> None:
    here = linear.parent
    golden_for(linear, here / "g")
    line = [
        sys.executable,
        "-m",
        "assay",
        "check",
        "linear.onnx",
        "--golden",
        "g",
        "--flow",
        "reference",
        "--flow",
        "onnxruntime",
    ]
    both = [
        subprocess.Popen(line, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for process in both:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, (out, err)
    listed = run_assay("runs", cwd=here)
    assert listed.stdout.count("pass") >= 2


def test_a_full_disk_is_said_and_what_was_recorded_is_kept(linear: Path) -> None:
    """/dev/full takes a report as a full disk does: after the run."""
    answer = run_assay("check", "linear.onnx", "--flow", "reference", "--report", "html=/dev/full", cwd=linear.parent)
    assert answer.returncode == 4, answer.stderr
    (said,) = answer.stderr.splitlines()
    run = said.partition("assay report ")[2].split()[0]
    assert "/dev/full cannot be written (No space left on device), but the run is recorded" in said
    assert "PASS" in run_assay("report", run, cwd=linear.parent).stdout


def test_a_disk_that_fills_leaves_no_half_report(tmp_path: Path) -> None:
    """A limit on the size of files is what a process may set itself: writing fails in the middle, as on a full disk."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "from pathlib import Path; from assay.commands.reporting import _replace; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); _replace(Path('out.html'), 'x' * 100_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


HANGS = [
    *(sys.executable, "-m", "assay", "check", "linear.onnx", "--flow", "reference", "--flow", "faulty-hang"),
    *("--timeout", "3600", "--only-kind", "verify"),
]


def test_a_run_whose_driver_was_killed_is_no_longer_called_running(linear: Path) -> None:
    """Nobody was left to say so: the journal that no process holds tells."""
    here = linear.parent
    child = subprocess.Popen(HANGS, cwd=here, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not [*(here / ".assay" / "journal").glob("*.journal")]:
            time.sleep(0.1)
        (journal,) = (here / ".assay" / "journal").glob("*.journal")
        while time.monotonic() < deadline and not journal_held(journal):
            time.sleep(0.1)
        assert "running (" in run_assay("runs", cwd=here).stdout, "its driver lives"
    finally:
        child.kill()
        child.wait()
    said = run_assay("runs", cwd=here).stdout
    assert "interrupted (" in said, said
    assert "running (" not in said, said
    assert said.endswith(f"to go on: assay resume {journal.stem}\n"), said
    assert f"{journal.stem} (interrupted)" in run_assay("report", "--format", "html", cwd=here).stdout


def test_interrupting_stops_cleanly_and_can_be_resumed(linear: Path) -> None:
    here = linear.parent
    child = subprocess.Popen(
        HANGS,
        cwd=here,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever starts the tests in the background of a script has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and "running" not in run_assay("runs", cwd=here).stdout:
        time.sleep(0.2)
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 130
    listed = run_assay("runs", cwd=here).stdout
    assert "interrupted" in listed
    assert err.splitlines()[-1] == f"assay: interrupted; `assay resume {listed.split()[0]}` goes on with it"

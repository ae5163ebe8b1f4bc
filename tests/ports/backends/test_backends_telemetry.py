"""Nothing of a check leaves the machine: ONNX Runtime, OpenVINO and NNCF send to their makers what they are used for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import run_assay
from small_models import linear_model


@pytest.mark.parametrize("library", ["openvino", "nncf"])
def test_a_worker_has_no_sender(library: str) -> None:
    pytest.importorskip(library)
    program = (
        "import os, sys\n"
        "from assay.worker.telemetry import forbid_telemetry\n"
        "forbid_telemetry()\n"
        "os.register_at_fork(before=lambda: print('forked'))\n"
        f"import {library}\n"
        "print(sys.modules['openvino_telemetry'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.splitlines()[-1] == "None"
    assert "forked" not in done.stdout


@pytest.mark.parametrize(
    ("flow", "left"),
    [
        ("openvino-f32", "intel/openvino_ga_cid"),
        ("onnxruntime", ".cache/Microsoft/DeveloperTools/.onnxruntime/deviceid"),
    ],
)
def test_a_check_leaves_no_trace_of_a_sender(
    flow: str, left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both keep the number of their user below his home, where they send anything."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)
    linear_model(tmp_path / "m.onnx")
    found = run_assay("check", "m.onnx", "--flow", flow, "--only-kind", "verify", cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert not (tmp_path / left).exists()

"""Nothing of a check leaves the machine: ONNX Runtime, OpenVINO and NNCF send to their makers what they are used for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.environment import Interpreter
from assay.environments import releases
from assay.environments.environments import _probe
from assay.models.telemetry import SENDERS, SWITCHES, without_telemetry
from assay.suites.subprocess_run import run_in_subprocess
from assay.testing.ability_checks import _fresh
from assay.testing.miscompiler import Miscompiler
from assay.triage.script import run_script
from command_line import run_assay
from small_models import linear_model


@pytest.mark.parametrize("library", ["openvino", "nncf"])
def test_a_worker_has_no_sender(library: str) -> None:
    pytest.importorskip(library)
    program = (
        "import os, sys\n"
        "from assay.models.telemetry import forbid_telemetry\n"
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
    process = run_assay("check", "m.onnx", "--flow", flow, "--only-kind", "verify", cwd=tmp_path)
    assert process.returncode == 0, process.stdout + process.stderr
    assert not (tmp_path / left).exists()


_TELLS = """
import atexit, os, sys, sysconfig

def tell():
    kept = all(one in sys.modules and sys.modules[one] is None for one in {senders!r})
    off = all(os.environ.get(one) == "1" for one in {switches!r})
    open({told!r}, "a").write(f"{{kept and off}} {{sys.argv[1:]}}\\n")

atexit.register(tell)
"""


def _of_triage(place: Path) -> None:
    assert run_script(str(place / "script.py"), Interpreter(sys.executable), "fails").exit_code == 0


def _of_another_release(place: Path) -> None:
    run = releases.run_with_release(str(place / "script.py"), ["engine"], "1.0", 60.0, "")
    assert run.exit_code == 0, run


def _of_a_suite(place: Path) -> None:
    assert run_in_subprocess("script").returncode == 0


def _of_conformance(place: Path) -> None:
    _fresh(Miscompiler(), "import script")


def _of_an_environment(place: Path) -> None:
    (place / "sitecustomize.py").write_text("import script")
    assert _probe(Interpreter(sys.executable), "miscompiler").available


@pytest.mark.parametrize("start", [_of_triage, _of_another_release, _of_a_suite, _of_conformance, _of_an_environment])
def test_each_process_that_may_import_a_library_has_no_sender(
    start: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SWITCHES:
        monkeypatch.delenv(name, raising=False)
    report_file = tmp_path / "told"
    script = _TELLS.format(senders=SENDERS, switches=SWITCHES, told=str(report_file))
    (tmp_path / "script.py").write_text(script)
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\nwhile [ "$1" != python ]; do shift; done\nshift\nexec {sys.executable} "$@"\n')
    uv.chmod(0o755)
    monkeypatch.setattr(releases, "find_uv", lambda: str(uv))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    start(tmp_path)
    assert report_file.read_text().startswith("True ")


def test_a_switch_that_a_user_has_set_stays() -> None:
    assert without_telemetry({SWITCHES[0]: "0", "HOME": "/"}) == {
        **dict.fromkeys(SWITCHES, "1"),
        SWITCHES[0]: "0",
        "HOME": "/",
    }


def test_a_script_has_its_own_name_and_arguments(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('relative error', sys.argv, __name__)\nsys.exit(3)\n")
    run = run_script(str(script), Interpreter(sys.executable), "cured")
    assert (run.exit_code, run.output) == (3, f"relative error {[str(script), 'cured']} __main__{os.linesep}")

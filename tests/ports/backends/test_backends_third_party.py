"""The example of a third party's backend: installed beside assay as a third party's package, it passes its own tests and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "my-backend"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a process that finds the example's package: its wheel, in a folder of its own."""
    folder = tmp_path_factory.mktemp("third-party")
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    target = folder / "site"
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    return {**os.environ, "PYTHONPATH": str(target)}


def test_its_own_tests_pass(installed: dict[str, str], tmp_path: Path) -> None:
    tests = shutil.copytree(EXAMPLE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tests), str(tests)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=installed, check=False)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_assay_runs_it_like_one_of_its_own(installed: dict[str, str], linear: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "assay", *arguments]
        return subprocess.run(command, cwd=linear.parent, capture_output=True, text=True, env=installed, check=False)

    checked = run(
        "check", "linear.onnx", "--flow", "plain-numpy", "--flow", "plain-numpy-wide", "--only-kind", "verify"
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "2 of 2 jobs" in checked.stdout
    listed = run("flows", "--installed")
    assert " plain-numpy-wide " in listed.stdout, listed.stdout + listed.stderr
    wrong = run("check", "linear.onnx", "--flow", "plain-numpy", "--option", "sums=int8")
    assert wrong.returncode == 2
    assert "float64" in wrong.stderr


def test_without_the_package_nobody_knows_the_flow(linear: Path) -> None:
    command = [sys.executable, "-m", "assay", "check", "linear.onnx", "--flow", "plain-numpy"]
    done = subprocess.run(command, cwd=linear.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 2

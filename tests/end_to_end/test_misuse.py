"""Exception scenarios over real backends: refused, accepted, killed; and the same engine afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.suites.edge import EdgeCases
from assay.testing.suite_checks import check_suite
from command_line import run_assay


def run(flow: str, glob: str, code: int, folder: Path) -> str:
    words = ["run", "edge", "--flow", flow, "--filter", glob, "--expectations", str(folder), "--history", str(folder)]
    done = run_assay(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_the_suite_keeps_its_promises() -> None:
    check_suite(EdgeCases(), at_least=270, made=270)


def test_what_is_wrong_is_refused_and_the_engine_stays_right(tmp_path: Path) -> None:
    printed = run("onnxruntime", "Relu-*", 0, tmp_path)
    assert "9 of 9 jobs passed" in printed


def test_an_answer_where_an_error_is_due_fails(tmp_path: Path) -> None:
    printed = run("reference", "GatherElements-index-one-before", 1, tmp_path)
    assert "an error was due (input 'i' all -4), and it answered y float32[3]" in printed
    # Told to kill the process: the blame falls on the case, whatever it expects.
    assert "crash" in run("faulty-segfault", "Relu-rank-x", 1, tmp_path)


@pytest.mark.parametrize("kind", ["threads-none", "cache-unwritable", "disk-full", "model-unknown-operator"])
def test_surroundings_and_broken_models(kind: str, tmp_path: Path) -> None:
    assert "1 of 1 job passed" in run("onnxruntime", kind, 0, tmp_path)

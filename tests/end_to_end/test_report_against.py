"""`assay report --against`: one run beside another, in every format, and what cannot be put beside."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from command_line import run_assay
from small_models import linear_model


def _assay(*given: str) -> tuple[int, str]:
    process = run_assay(*given)
    return process.returncode, process.stdout + process.stderr


def _git(folder: Path, *given: str) -> None:
    who = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
    subprocess.run(["git", *who, *given], cwd=folder, check=True, capture_output=True)


def _check(history: str, model: str) -> None:
    code, output = _assay("check", model, "--flow", "onnxruntime", "--only-kind", "verify", "--history", history)
    assert code == 0, output


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two runs of one model from two commits, and one of another model between them."""
    monkeypatch.chdir(tmp_path)
    _git(tmp_path, "init", "-q")
    linear_model(tmp_path / "m.onnx")
    _git(tmp_path, "add", "m.onnx")
    _git(tmp_path, "commit", "-qm", "The first model")
    _check("h", "m.onnx")
    linear_model(tmp_path / "other.onnx")
    _check("h", "other.onnx")
    _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "A change <of> the model")
    _check("h", "m.onnx")
    return "h"


def test_the_run_before_with_the_same_cells_is_found_and_every_format_shows_it(history: str, tmp_path: Path) -> None:
    code, output = _assay("report", "--against", "previous", "--history", history)
    assert code == 0, output
    assert "Against the version before" in output
    assert "1 commit between, the last:" in output
    assert "A change <of> the model" in output
    assert "m | onnxruntime  pass" in output
    assert "deviation (budget used)" in output
    for name, part in (("markdown", "| deviation (budget used) |"), ("html", "<h2>Against the version before</h2>")):
        code, text = _assay("report", "--against", "previous", "--history", history, "--format", name)
        assert code == 0, text
        assert part in text
        assert "A change <of>" not in text, "it is untrusted text"
    code, text = _assay("report", "--against", "previous", "--history", history, "--format", "junit")
    names = [element.get("name") for element in ET.fromstring(text[text.index("<?xml") :]).iter("property")]
    assert "against: deviation (budget used)" in names


def test_a_format_without_that_part_says_so(history: str) -> None:
    process = run_assay("report", "--against", "previous", "--history", history, "--format", "csv")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("run,case,flow")
    assert process.stderr.endswith("csv has no part about another run: it is the same without --against\n")


def test_a_run_of_other_models_itself_and_an_unknown_run_are_refused_in_a_sentence(history: str) -> None:
    runs = [line.split()[0] for line in _assay("runs", "--history", history)[1].splitlines()]
    code, output = _assay("report", runs[0], "--against", runs[1], "--history", history)
    assert code == 2
    assert "is about other models: it has other on onnxruntime" in " ".join(output.split())
    code, output = _assay("report", runs[0], "--against", runs[0], "--history", history)
    assert code == 2
    assert "compared with itself" in " ".join(output.split())
    code, output = _assay("report", runs[1], "--against", "previous", "--history", history)
    assert code == 2
    assert "no run before" in " ".join(output.split())
    assert _assay("report", "--against", "19990101", "--history", history)[0] == 2

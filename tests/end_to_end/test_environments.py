"""Two versions of one backend in one run, each in an environment that assay builds: real packages, from the package index."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch

import assay
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.words.note_text import note_text
from command_line import run_assay

CONFIG = """\
[environments.ort130]
requires = ["onnxruntime==1.30.0"]

[environments.nowhere]
requires = ["onnxruntime==1.30.0", "onnxruntime==1.31.1"]

[environments.ancient]
requires = ["onnxruntime"]
python = "3.10"

[environments.bare]
requires = ["packaging"]
"""
FLOWS = ("onnxruntime@ort130", "onnxruntime", "onnxruntime@nowhere", "onnxruntime@ancient", "onnxruntime@bare")


@pytest.fixture
def here(linear: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(linear.parent)
    (linear.parent / "assay.toml").write_text(CONFIG)
    return linear.parent


def test_an_upgrade_is_answered_in_one_run_and_what_cannot_be_had_stops_nothing(here: Path) -> None:
    checked = assay.check("linear.onnx", flows=FLOWS, measure=False)
    by_flow: dict[str, Result] = {result.flow: result for result in checked.results}
    old, new = by_flow["onnxruntime@ort130"], by_flow["onnxruntime"]
    assert (old.outcome, new.outcome) == (Outcome.OK, Outcome.OK), (old.detail, new.detail)
    assert old.versions["onnxruntime"] == old.facts.backend_version == "1.30.0"
    assert new.versions["onnxruntime"] == new.facts.backend_version != "1.30.0"
    assert {by_flow[name].outcome for name in FLOWS[2:]} == {Outcome.UNAVAILABLE}
    assert "unsatisfiable" in by_flow["onnxruntime@nowhere"].detail
    assert "3.11 or newer" in by_flow["onnxruntime@ancient"].detail
    bare = by_flow["onnxruntime@bare"].detail
    assert "environment 'bare'" in bare
    assert "onnxruntime is not installed" in bare
    assert "[environments.bare]" in bare


def test_a_program_is_not_converted_in_an_environment_without_torch(here: Path) -> None:
    torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.rand(4),)), here / "net.pt2")
    (result,) = assay.check("net.pt2", flows="onnxruntime@ort130", measure=False).results
    assert result.outcome is Outcome.UNAVAILABLE
    said = "the conversion torch->onnx is made by torch, which is not installed where this flow runs"
    assert note_text(result.detail).startswith(said)


def test_a_name_that_is_nearly_one_is_refused_before_anything_runs(here: Path) -> None:
    for name, message in (("onnxruntime@ort13", "'ort130'"), ("onnxruntim@ort130", "'onnxruntime'")):
        done = run_assay("check", "linear.onnx", "--flow", name)
        assert done.returncode == 2
        assert message in done.stderr


def test_the_repro_line_the_measuring_and_the_golden_use_the_environment_too(here: Path) -> None:
    done = run_assay("golden", "record", "linear.onnx", "g", "--flow", "onnxruntime@ort130", "--reason", "a test")
    assert done.returncode == 0, done.stderr
    assert '"1.30.0"' in (here / "g" / "golden.lock").read_text()
    only = "linear|onnxruntime@ort130|measure"
    command = ("check", "linear.onnx", "--golden", "g", "--flow", "onnxruntime@ort130", "--only", only)
    done = run_assay(*command, "--measure-seconds", "0.05", "--report", "json=o.json")
    assert done.returncode == 0, done.stderr
    text = (here / "o.json").read_text()
    assert msgspec.json.decode(text)
    assert "1.30.0" in text


def test_assay_env_says_what_there_is(here: Path) -> None:
    listed = run_assay("env", "list")
    assert listed.returncode == 0, listed.stderr
    line = next(text for text in listed.stdout.splitlines() if text.startswith("nowhere"))
    assert "not built" in line
    built = run_assay("env", "build", "ort130", "nowhere")
    assert built.returncode == 4
    assert "MB: onnxruntime==1.30.0" in built.stdout
    assert "nowhere" in built.stderr
    assert "Traceback" not in built.stderr
    assert (here / ".assay" / "environments" / "ort130.lock").read_text().count("--hash=sha256:") > 5
    assert "://" not in (here / ".assay" / "environments" / "ort130.lock").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[environments.a]\n", "'environments.a.requires' is missing"),
        ("[environments.a]\nrequires = []\n", "environments.a.requires"),
        ('[environments."a b"]\nrequires = ["x"]\n', "letters, digits"),
        ('[environments.a]\nrequires = ["x"]\npython = "python3"\n', '"3.12"'),
        ('[environments.a]\nrequires = ["x"]\npyton = "3.12"\n', "'python'"),
    ],
)
def test_a_wrong_entry_is_one_sentence(here: Path, text: str, message: str) -> None:
    (here / "assay.toml").write_text(text)
    done = run_assay("check", "linear.onnx", "--flow", "onnxruntime@a")
    assert done.returncode == 2
    assert message in done.stderr
    assert "assay.toml, line" in done.stderr

"""A release, a next one that is approved without building it again, a bad one, the rollback, and the audit of it all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command_line import run_assay
from small_models import linear_model

POLICY = """
[speed]
min-slowdown-percent = 200.0
margin-percent = 400.0
wall-min-slowdown-percent = 5000.0
load-min-slowdown-percent = 5000.0
"""


def _assay(*given: str) -> tuple[int, str]:
    found = run_assay(*given)
    return found.returncode, " ".join((found.stdout + found.stderr).split())


def _run_ids() -> list[str]:
    return [line.split()[0] for line in run_assay("runs", "--history", "h").stdout.splitlines()]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    linear_model(Path("m.onnx"))
    Path("policy.toml").write_text(POLICY)


def test_from_a_release_to_the_audit_of_its_rollback() -> None:
    model, history = ("m.onnx", "--flow", "onnxruntime"), ("--history", "h")
    short = ("--measure-seconds", "0.05")
    code, said = _assay("baseline", "set", *model, *history, *short, "--reason", "the first release")
    assert code == 0, said
    code, said = _assay("check", *model, *history, *short, "--baseline", "--policy", "policy.toml")
    assert code == 0, said
    run = _run_ids()[0]

    code, said = _assay("baseline", "approve", run, *history)
    assert (code, "an approval needs a reason" in said) == (2, True), said
    code, said = _assay("baseline", "approve", run, *history, "--reason", "the second release")
    assert code == 0, said
    assert f"passed in run {run}" in said
    code, said = _assay("baseline", "list", "--all", *history)
    assert said.index("the second release") < said.index("the first release")

    code, said = _assay(
        "baseline", "rollback", "m", "--flow", "onnxruntime", *history, "--reason", "customers complain"
    )
    assert code == 0, said
    assert "kept, for --to 2" in said
    assert "the first release" in _assay("baseline", "list", *history)[1]
    code, said = _assay("baseline", "rollback", "m", "--flow", "onnxruntime", *history, "--reason", "once more")
    assert (code, "this is the first engine of m on onnxruntime that was approved (2" in said) == (2, True), said
    code, said = _assay("audit", "m.onnx", *history)
    assert code == 0, said
    order = [said.index(phrase) for phrase in ("the first release", "the second release", "customers complain")]
    assert order == sorted(order)
    assert f"passed in run {run}: assay report {run}" in said


def test_what_cannot_be_approved_or_brought_back_says_why() -> None:
    model, history = ("m.onnx", "--flow", "onnxruntime"), ("--history", "h")
    short = ("--measure-seconds", "0.05")
    code, said = _assay("audit", "m.onnx", *history)
    assert (code, "there is no history in h" in said) == (2, True), said
    assert _assay("check", *model, *history, *short)[0] == 0
    code, said = _assay("audit", "m.onnx", *history)
    assert (code, "nobody approved an engine of 'm.onnx'" in said) == (2, True), said
    code, said = _assay("baseline", "approve", *history, "--reason", "why not")
    assert (code, "kept no engine of m on onnxruntime" in said) == (2, True), said
    # There is no baseline yet: that row is inconclusive.
    assert _assay("check", *model, *history, *short, "--baseline")[0] == 3
    code, said = _assay("baseline", "approve", *history, "--reason", "why not")
    assert (code, "did not pass in run" in said) == (2, True), said

    for reason in ("one", "two"):
        assert _assay("baseline", "set", *model, *history, *short, "--reason", reason)[0] == 0
    (earlier,) = Path("h/baselines").glob("*/*/replaced-*")
    shutil.rmtree(earlier / "artifact")
    assert "its artifact is gone" in _assay("baseline", "list", "--all", *history)[1]
    code, said = _assay("baseline", "rollback", "m", "--flow", "onnxruntime", *history, "--reason", "why not")
    assert (code, f"{earlier.name.removeprefix('replaced-')}: its artifact is gone" in said) == (2, True), said
    assert "two" in _assay("baseline", "list", *history)[1]

    assert _assay("baseline", "set", *model, *history, *short, "--reason", "three")[0] == 0
    code, said = _assay(
        "baseline", "rollback", "m", "--flow", "onnxruntime", "--to", "2", *history, "--reason", "why not"
    )
    assert (code, "more than one earlier baseline of m on onnxruntime begins with '2': " in said) == (2, True), said
    assert "three" in _assay("baseline", "list", *history)[1], "nobody guesses which engine is meant"


def test_a_baseline_that_cannot_be_read_hides_no_other() -> None:
    """Each command is about the other model, which is named by its file."""
    linear_model(Path("other.onnx"))
    history, short = ("--history", "h"), ("--measure-seconds", "0.05")
    for model, reason in (("m.onnx", "one"), ("m.onnx", "two"), ("other.onnx", "three")):
        said = _assay("baseline", "set", model, "--flow", "onnxruntime", *history, *short, "--reason", reason)
        assert said[0] == 0, said[1]
    (file,) = Path("h/baselines/other").glob("*/*/baseline.json")
    file.write_bytes(file.read_bytes()[:200])

    code, said = _assay("baseline", "list", *history)
    assert (code, "m on onnxruntime" in said) == (0, True), said
    assert f"{file} is no baseline that can be read" in said
    assert "remove its folder and approve again" in said
    code, said = _assay("baseline", "rollback", "m.onnx", "--flow", "onnxruntime", *history, "--reason", "back")
    assert code == 0, said
    assert "one" in said
    assert _assay("audit", "m.onnx", *history)[0] == 0
    Path("assay.toml").write_text('history = "h"\n[[model]]\npath = "m.onnx"\n')
    code, said = _assay("golden", "refresh", "--check")
    assert (code, "stale: a baseline:" in said) == (1, True), said
    code, said = _assay("baseline", "remove", "m.onnx", "--flow", "onnxruntime", *history)
    assert (code, said) == (0, "1 removed")

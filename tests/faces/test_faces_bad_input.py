"""Bad input: one clear sentence, exit 2, and nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from small_models import golden_for, linear_model


def run_assay(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def _external(folder: Path, location: str) -> None:
    weight = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    (folder / "w.bin").write_bytes(weight.raw_data)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "external",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
        [weight],
    )
    del weight
    stored = graph.initializer[0]
    stored.ClearField("raw_data")
    stored.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("length", "48")):
        stored.external_data.add(key=key, value=value)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    (folder / "m.onnx").write_bytes(model.SerializeToString())


def _nodes(folder: Path, nodes: list[onnx.NodeProto], **keywords: int) -> None:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", keywords.get("opset", 17))])
    model.ir_version = keywords.get("ir", 10)
    (folder / "m.onnx").write_bytes(model.SerializeToString())


def _bad_model(folder: Path, kind: str) -> None:
    path = folder / "m.onnx"
    match kind:
        case "directory":
            path.mkdir()
        case "empty":
            path.write_bytes(b"")
        case "truncated":
            linear_model(path)
            path.write_bytes(path.read_bytes()[:100])
        case "text":
            path.write_text("this is no model\n" * 20)
        case "lfs":
            path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 123\n")
        case "external missing":
            _external(folder, "nowhere.bin")
        case "external outside":
            _external(folder, "../w.bin")
        case "external absolute":
            _external(folder, str(folder / "w.bin"))
        case "external symlink":
            _external(folder, "link.bin")
            (folder / "link.bin").symlink_to(folder / "w.bin")
        case "external hard link":
            _external(folder, "w.bin")
            os.link(folder / "w.bin", folder / "other.bin")
        case "unsorted":
            nodes = [helper.make_node("Relu", ["h"], ["y"]), helper.make_node("Tanh", ["x"], ["h"])]
            _nodes(folder, nodes)
        case "cyclic":
            nodes = [helper.make_node("Add", ["x", "y"], ["h"]), helper.make_node("Tanh", ["h"], ["y"])]
            _nodes(folder, nodes)
        case "opset from the future":
            _nodes(folder, [helper.make_node("Tanh", ["x"], ["y"])], opset=999)


SENTENCES = {
    "missing": "m.onnx",
    "directory": "directory",
    "empty": "empty",
    "truncated": "m.onnx",
    "text": "m.onnx",
    "lfs": "git lfs pull",
    "external missing": "nowhere.bin",
    "external outside": "../w.bin",
    "external absolute": "absolute",
    "external symlink": "link",
    "external hard link": "link",
    "unsorted": "sort",
    "cyclic": "cycl",
    "opset from the future": "999",
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_bad_model_is_answered_with_one_sentence(kind: str, tmp_path: Path) -> None:
    _bad_model(tmp_path, kind)
    _check_refused(run_assay("check", "m.onnx", cwd=tmp_path), SENTENCES[kind])


def _check_refused(answer: subprocess.CompletedProcess[str], words: str) -> None:
    assert answer.returncode == 2, (answer.returncode, answer.stdout, answer.stderr)
    assert "Traceback" not in answer.stderr
    assert answer.stderr.startswith("assay: ")
    assert len(answer.stderr.strip().splitlines()) == 1, answer.stderr
    assert words.lower() in answer.stderr.lower(), answer.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--flow", "onnxruntim"], "onnxruntime"),
        (["--golden", "nowhere"], "nowhere"),
        (["--report", "html=no/such/folder/o.html"], "cannot be written"),
        (["--report", "htm=o.html"], "html"),
        (["--report", "html"], "NAME=FILE"),
        (["--option", "optimisation=all"], "optimization"),
        (["--option", "threads"], "NAME=VALUE"),
        (["--option", "optimization=fast"], "one of"),
        (["--task", "verfy"], "verify"),
        (["--memory", "much"], "4GB"),
        (["--against", "nothing"], "no run"),
        (["--policy", "nowhere.toml"], "nowhere.toml"),
        (["--answers", "poetry", "--task", "verify"], "poetry"),
        (["--require", "foo.max_abs <= 1"], "no output is called 'foo' (there is y)"),
    ],
)
def test_a_wrong_word_is_answered_before_anything_runs(arguments: list[str], words: str, linear: Path) -> None:
    _check_refused(run_assay("check", "linear.onnx", *arguments, cwd=linear.parent), words)


def test_wrong_goldens_are_refused(linear: Path, golden: Path) -> None:
    here = linear.parent
    outputs = golden / "outputs.safetensors"
    whole = outputs.read_bytes()
    outputs.write_bytes(whole[:-4] + b"\x00\x00\xc0\x7f")
    _check_refused(run_assay("check", "linear.onnx", "--golden", "golden", cwd=here), "outputs.safetensors")
    outputs.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 123\n")
    _check_refused(run_assay("check", "linear.onnx", "--golden", "golden", cwd=here), "git lfs pull")
    outputs.write_bytes(whole)
    linear_model(here / "other.onnx", scale=2)
    _check_refused(run_assay("check", "other.onnx", "--golden", "golden", cwd=here), "golden update")


def test_a_string_input_wants_a_golden(tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["":17]> g (string[n] x) => (string[n] y) { y = Identity(x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "words.onnx")
    _check_refused(run_assay("check", "words.onnx", cwd=tmp_path), "for which no values can be drawn; give a golden")


@pytest.mark.parametrize("command", [("runs",), ("report",), ("resume",), ("trend", "m", "--flow", "onnxruntime")])
def test_a_mistyped_history_is_not_made(command: tuple[str, ...], tmp_path: Path) -> None:
    answer = run_assay(*command, "--history", "typo", cwd=tmp_path)
    _check_refused(answer, "there is no history in typo")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_policy_key_names_the_nearest(linear: Path) -> None:
    (linear.parent / "p.toml").write_text("[policy]\nbudget-mx = 1.0\n")
    _check_refused(run_assay("check", "linear.onnx", "--policy", "p.toml", cwd=linear.parent), "budget-max")


def test_a_history_of_a_newer_version_is_left_alone(linear: Path) -> None:
    here = linear.parent
    assert run_assay("check", "linear.onnx", "--task", "verify", cwd=here).returncode == 0
    import sqlite3

    with sqlite3.connect(here / ".assay" / "history.db") as database:
        database.execute("UPDATE assay_schema SET version_num = '9999'")
    database.close()
    answer = run_assay("check", "linear.onnx", "--task", "verify", cwd=here)
    assert answer.returncode in (2, 4)
    assert "newer" in answer.stderr
    assert "Traceback" not in answer.stderr


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
    for one in both:
        out, err = one.communicate(timeout=120)
        assert one.returncode == 0, (out, err)
    listed = run_assay("runs", cwd=here)
    assert listed.stdout.count("pass") >= 2


def test_a_full_disk_is_said_and_what_was_recorded_is_kept(linear: Path) -> None:
    """A small tmpfs is a real full disk; without the right to mount one, /dev/full stands for the report."""
    answer = run_assay("check", "linear.onnx", "--report", "html=/dev/full", cwd=linear.parent)
    assert answer.returncode in (2, 4)
    assert "Traceback" not in answer.stderr


def test_interrupting_stops_cleanly_and_can_be_resumed(linear: Path) -> None:
    import signal
    import time

    here = linear.parent
    line = [
        sys.executable,
        "-m",
        "assay",
        "check",
        "linear.onnx",
        "--flow",
        "reference",
        "--flow",
        "faulty-hang",
        "--timeout",
        "60",
    ]
    child = subprocess.Popen(
        [*line, "--task", "verify"],
        cwd=here,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever starts the tests in the background of a script has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and "running" not in run_assay("runs", cwd=here).stdout:
        time.sleep(0.2)
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "assay resume" in err
    assert "Traceback" not in err
    assert "interrupted" in run_assay("runs", cwd=here).stdout

"""Bad input: one clear sentence, exit 2, and nothing lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from refusals import check_refused, run_assay

from assay.commands.composition import open_services
from assay.errors import NotWritable, StoreError
from small_models import linear_model


def _external(folder: Path, location: str, length: str = "48", dims: tuple[int, ...] = (4, 3)) -> None:
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
    stored.dims[:] = dims
    for key, value in (("location", location), ("length", length)):
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
        case "external length in other digits":
            _external(folder, "w.bin", length="\u0664\u0668")
        case "external negative shape":
            _external(folder, "w.bin", dims=(-4, -3))
        case "unsorted":
            nodes = [helper.make_node("Relu", ["h"], ["y"]), helper.make_node("Tanh", ["x"], ["h"])]
            _nodes(folder, nodes)
        case "cyclic":
            nodes = [helper.make_node("Add", ["x", "y"], ["h"]), helper.make_node("Tanh", ["h"], ["y"])]
            _nodes(folder, nodes)
        case "text that is no UTF-8":
            _nodes(folder, [helper.make_node("Tanh", ["x"], ["y"])])
            path.write_bytes(path.read_bytes().replace(b"Tanh", b"\xff\xfe\xfd\xfc"))
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
    "external length in other digits": "which is no whole number",
    "external negative shape": "a size is 0 or more",
    "unsorted": "sort",
    "cyclic": "cycl",
    "opset from the future": "999",
    "text that is no UTF-8": "m.onnx holds a name that is not UTF-8",
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_bad_model_is_answered_with_one_sentence(kind: str, tmp_path: Path) -> None:
    _bad_model(tmp_path, kind)
    check_refused(run_assay("check", "m.onnx", cwd=tmp_path), SENTENCES[kind])


def test_wrong_goldens_are_refused(linear: Path, golden: Path) -> None:
    here = linear.parent
    outputs = golden / "outputs.safetensors"
    whole = outputs.read_bytes()
    outputs.write_bytes(whole[:-4] + b"\x00\x00\xc0\x7f")
    check_refused(run_assay("check", "linear.onnx", "--golden", "golden", cwd=here), "outputs.safetensors")
    outputs.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 123\n")
    check_refused(run_assay("check", "linear.onnx", "--golden", "golden", cwd=here), "git lfs pull")
    outputs.write_bytes(whole)
    linear_model(here / "other.onnx", scale=2)
    check_refused(run_assay("check", "other.onnx", "--golden", "golden", cwd=here), "golden update")


def test_an_input_that_is_a_sequence_wants_a_golden(tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["":17]> g (seq(float[n]) x) => (int64 y) { y = SequenceLength(x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "items.onnx")
    check_refused(
        run_assay("check", "items.onnx", cwd=tmp_path),
        "for which no values can be generated; give your own with --golden DATA (docs/own-data.md)",
    )


@pytest.mark.parametrize("command", [("runs",), ("report",), ("resume",), ("trend", "m", "--flow", "onnxruntime")])
def test_a_mistyped_history_is_not_made(command: tuple[str, ...], tmp_path: Path) -> None:
    answer = run_assay(*command, "--history", "typo", cwd=tmp_path)
    check_refused(answer, "there is no history in typo")
    assert list(tmp_path.iterdir()) == []


def test_a_defect_of_ours_is_no_verdict(linear: Path) -> None:
    """Python leaves with 1, which would say that the model failed."""
    code = "import assay.pipeline.plan as p; p.check_source = None; from assay.cli.main import main; main()"
    line = [sys.executable, "-c", code, "check", "linear.onnx", "--flow", "reference"]
    answer = subprocess.run(line, cwd=linear.parent, capture_output=True, text=True, timeout=600, check=False)
    assert answer.returncode == 4
    assert "Traceback" in answer.stderr
    assert "a defect of assay itself" in answer.stderr.splitlines()[-1]


def test_a_history_of_a_newer_version_is_left_alone(linear: Path) -> None:
    here = linear.parent
    assert run_assay("check", "linear.onnx", "--only-kind", "verify", cwd=here).returncode == 0
    import sqlite3

    with sqlite3.connect(here / ".assay" / "history.db") as database:
        database.execute("UPDATE assay_schema SET version_num = '9999'")
    database.close()
    answer = run_assay("check", "linear.onnx", "--only-kind", "verify", cwd=here)
    assert answer.returncode in (2, 4)
    assert "newer" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(("number", "error"), [(errno.ENOSPC, StoreError), (errno.EACCES, NotWritable)])
def test_a_history_that_cannot_begin_blames_the_machine_or_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception]
) -> None:
    """Exit 4 for a full disk, 2 for a folder that one may not write to."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_text", refuse)
    with (
        pytest.raises(error, match=f"cannot be written .{os.strerror(number)}.; .*give another"),
        open_services(str(tmp_path / "h")),
    ):
        pass


def _all_named(answer: subprocess.CompletedProcess[str], *names: str) -> None:
    """A line for each, and none for what is sound."""
    assert answer.returncode == 2, (answer.returncode, answer.stdout, answer.stderr)
    lines = answer.stderr.removeprefix("assay: ").strip().splitlines()
    assert len(lines) == len(names), answer.stderr
    for name, line in zip(names, lines, strict=True):
        assert name in line, answer.stderr


def test_of_several_bad_files_all_are_named(linear: Path) -> None:
    here = linear.parent
    for name in ("a.onnx", "b.onnx", "a.assay", "b.assay"):
        (here / name).write_text("junk")
    _all_named(run_assay("check", "a.onnx", "linear.onnx", "b.onnx", cwd=here), "a.onnx", "b.onnx")
    _all_named(run_assay("check", "gone.onnx", "linear.onnx", "lost.onnx", cwd=here), "gone.onnx", "lost.onnx")
    approved = run_assay("baseline", "set", "linear.onnx", "a.onnx", "b.onnx", "--reason", "release 1", cwd=here)
    _all_named(approved, "a.onnx", "b.onnx")
    assert not [*(here / ".assay").glob("baselines/*")], "nothing is built before all were looked at"
    _all_named(run_assay("merge", "a.assay", "b.assay", cwd=here), "a.assay", "b.assay")
    _all_named(run_assay("expect", "update", "a.assay", "b.assay", cwd=here), "a.assay", "b.assay")


def test_of_several_bad_goldens_expectations_and_submissions_all_are_named(linear: Path) -> None:
    here = linear.parent
    (here / "damaged").mkdir()
    (here / "damaged" / "golden.lock").write_text("{}")
    models = "".join(
        f'[[model]]\nname = "{name}"\npath = "linear.onnx"\ngolden = "{name}"\n' for name in ("gone", "damaged")
    )
    (here / "assay.toml").write_text(f'[flows]\nuse = ["reference"]\n{models}')
    _all_named(run_assay("check", cwd=here), "gone", "damaged")
    known = here / "expectations"
    known.mkdir()
    (known / "reference.toml").write_text("[[expect]]\n")
    (known / "onnxruntime.toml").write_text("not TOML")
    flows = ("--flow", "reference", "--flow", "onnxruntime", "--expectations", "expectations")
    said = run_assay("run", "edge", *flows, "--filter", "relu*", cwd=here)
    assert said.returncode == 2
    assert "reference.toml" in said.stderr
    assert "onnxruntime.toml" in said.stderr
    _all_named(run_assay("zoo", "check", "none", "expectations/no", cwd=here), "none", "expectations/no")

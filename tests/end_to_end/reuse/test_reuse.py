"""Lowered artifacts of an earlier job: loaded where nothing changed, never where anything did or the entry is damaged."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from reused_job import FLOW, another_option, lowered, run
from typer.testing import CliRunner

from assay.cli.main import app
from assay.commands.caches import enforce_cache_limit
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job_base import Job
from assay.core.note import NoteCode
from assay.core.outcome import Outcome, Stage
from assay.errors import InvalidModel, Lowering, Unavailable, Undelegated
from assay.models.artifacts import Artifacts, artifacts_folder
from assay.models.files import user_cache
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.worker.stages import Stages
from judged_job import execute_judged as execute


def _entry() -> Path:
    (entry,) = artifacts_folder().glob("??/*")
    return entry


def test_the_second_job_loads_what_the_first_lowered_and_says_so(job: Job) -> None:
    first, second = run(job), run(job)
    assert lowered(first)
    assert not lowered(second)
    assert first.facts.reused == ""
    assert second.facts.reused == _entry().parent.name + _entry().name
    assert msgspec.structs.replace(second.facts, reused="") == first.facts
    assert second.comparisons == first.comparisons
    assert not lowered(run(msgspec.structs.replace(job, flow=msgspec.structs.replace(FLOW, name="another-name"))))


def test_a_model_in_a_coarse_type_of_its_own_is_judged_the_same_when_its_artifact_is_loaded_again(
    job: Job, tmp_path: Path
) -> None:
    spec = [helper.make_tensor_value_info(name, TensorProto.INT8, [4]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "twice", spec[:1], spec[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    model = open_model(tmp_path / "m.onnx")
    samples = [{"x": np.arange(-2, 2, dtype=np.int8)}]
    outputs = [{"y": sample["x"] * np.int8(2)} for sample in samples]
    provenance = {"seed": 0, "producer": "numpy", "producer_version": "1", "who": "test", "reason": "int8"}
    write_golden(tmp_path / "int8", model=model, inputs=samples, outputs=outputs, created_at="", **provenance)
    job = msgspec.structs.replace(job, case=Case("own/twice", model, Inputs(golden=str(tmp_path / "int8"))))
    first, second = run(job), run(job)
    assert {placement.precision for placement in first.facts.placements} == {"int8"}
    assert (first.facts.reused, second.facts.reused) == ("", _entry().parent.name + _entry().name)


def test_who_does_not_ask_lowers(job: Job) -> None:
    run(job)
    assert lowered(run(msgspec.structs.replace(job, reuse=False)))


@pytest.mark.parametrize("part", ["artifact/model.onnx", "entry.msgpack"])
@pytest.mark.parametrize("harm", ["cut", "flip", "gone"])
def test_a_damaged_entry_is_lowered_anew_and_fixed(job: Job, part: str, harm: str) -> None:
    run(job)
    file = _entry() / part
    data = file.read_bytes()
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(data[: len(data) // 2] if harm == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    assert lowered(run(job))
    assert not lowered(run(job))


def test_a_file_that_nobody_saved_is_damage_too(job: Job) -> None:
    run(job)
    (_entry() / "artifact" / "extra").write_text("who put this here?")
    assert lowered(run(job))


def test_a_cache_that_cannot_be_written_costs_no_result(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    assert lowered(run(job))
    assert lowered(run(job))


def test_a_quantized_model_is_judged_by_the_standard_that_was_kept(job: Job) -> None:
    quantized = Flow("q", "onnxruntime", transforms=("int8-qdq:per-tensor",), precision="int8")
    wanted = msgspec.structs.replace(job, flow=quantized)
    first, second = (execute(wanted, Stages(lambda stage: None)) for _ in range(2))
    assert lowered(first)
    assert not lowered(second)
    assert second.facts.transforms == first.facts.transforms
    assert (second.outcome, second.comparisons, second.against_float) == (
        first.outcome,
        first.comparisons,
        first.against_float,
    )
    (kept, _, _) = next(iter(Artifacts(artifacts_folder()).entries()))
    standard = Artifacts(artifacts_folder()).standard(kept)
    assert standard is not None
    standard.write_bytes(standard.read_bytes()[:-3])
    assert lowered(execute(wanted, Stages(lambda stage: None)))


def test_warnings_of_the_lowering_are_told_again(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    from assay.backends.onnxruntime.backend import OnnxRuntime

    plain = OnnxRuntime.lower

    def warning(self, model, flow):  # type: ignore[no-untyped-def]
        warnings.warn("this operator is slow", stacklevel=1)
        return plain(self, model, flow)

    monkeypatch.setattr(OnnxRuntime, "lower", warning)
    first, second = run(job), run(job)
    assert not lowered(second)
    assert "this operator is slow" in [one.text for one in first.native_warnings]
    assert second.native_warnings == first.native_warnings


def test_what_was_refused_is_refused_at_once_with_the_same_words(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.backends.onnxruntime.backend import OnnxRuntime
    from assay.errors import Unsupported

    asked: list[Path] = []

    def refusing(self, model, flow):  # type: ignore[no-untyped-def]
        asked.append(model)
        raise Unsupported("there is no such operator", node="n7", cause="operator_unsupported")

    monkeypatch.setattr(OnnxRuntime, "lower", refusing)
    first, second = (execute(job, Stages(lambda stage: None)) for _ in range(2))
    assert len(asked) == 1
    ends = [(result.outcome, result.cause, result.ended, result.node, result.stage) for result in (first, second)]
    assert ends[0] == ends[1]
    assert ends[0][0] is Outcome.UNSUPPORTED
    assert (first.facts.reused, second.facts.reused) == ("", _entry().parent.name + _entry().name)
    assert NoteCode.KEPT_REFUSAL in {note.code for note in second.notes}
    assert execute(another_option(job), Stages(lambda stage: None)).facts.reused == ""
    assert execute(msgspec.structs.replace(job, reuse=False), Stages(lambda stage: None)).facts.reused == ""


@pytest.mark.parametrize(
    ("error", "outcome", "asked_again"),
    [
        (Lowering("the importer fell over: KeyError", node="n7"), Outcome.UNSUPPORTED, False),
        (Undelegated("nothing was delegated", node="n7"), Outcome.UNDELEGATED, False),
        (InvalidModel("the graph is not acyclic", node="n7"), Outcome.UNSUPPORTED, False),  # the checker says otherwise
        (Lowering("the compiler was killed by signal 9"), Outcome.UNSUPPORTED, True),
        (Lowering("the converter died of SIGSEGV"), Outcome.UNSUPPORTED, True),
        (Lowering("the compiler timed out"), Outcome.UNSUPPORTED, True),
        (Lowering("std::bad_alloc"), Outcome.UNSUPPORTED, True),
        (InvalidModel("External data path does not exist"), Outcome.ERROR, True),
        (Unavailable("needs a C++ compiler"), Outcome.UNAVAILABLE, True),
    ],
)
def test_every_refusal_is_unsupported_and_kept_unless_it_may_be_fixed_outside(
    job: Job, monkeypatch: pytest.MonkeyPatch, error: Lowering, outcome: Outcome, asked_again: bool
) -> None:
    from assay.backends.onnxruntime.backend import OnnxRuntime

    asked: list[Path] = []

    def refusing(self, model, flow):  # type: ignore[no-untyped-def]
        asked.append(model)
        raise error

    monkeypatch.setattr(OnnxRuntime, "lower", refusing)
    first, second = (execute(job, Stages(lambda stage: None)) for _ in range(2))
    assert len(asked) == 1 + asked_again
    assert [(result.outcome, result.node, result.stage) for result in (first, second)] == [
        (outcome, error.node, Stage.LOWER)
    ] * 2
    assert first.ended == second.ended


def test_one_command_lists_them_and_one_removes_them(job: Job) -> None:
    run(job)
    half = _entry().parent / ".part-killed"
    shutil.copytree(_entry(), half)
    process = CliRunner().invoke(app, ["cache", "list"])
    assert process.exit_code == 0
    lines = process.stdout.splitlines()
    assert any(line.startswith("1 artifacts, ") for line in lines)
    assert lines[-1].endswith("of 20000.0 MB at most (max-size of [cache] in assay.toml)")
    assert "onnxruntime" in process.stdout
    assert CliRunner().invoke(app, ["cache", "clear", "--flow", "tvm*"]).stdout.startswith("removed 0 artifacts")
    assert CliRunner().invoke(app, ["cache", "clear", "--unused", "1"]).stdout.startswith("removed 0 artifacts")
    assert CliRunner().invoke(app, ["cache", "clear"]).stdout.startswith("removed 1 artifacts")
    assert lowered(run(job))


def test_a_run_that_adds_to_a_full_cache_makes_room_as_assay_toml_says(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(job)
    long_ago = time.time() - 7200
    os.utime(_entry() / "entry.msgpack", (long_ago, long_ago))
    enforce_cache_limit()
    assert _entry().is_dir()
    (tmp_path / "assay.toml").write_text('[cache]\nmax-size = "1kB"\n')
    old = _entry()
    run(another_option(job))
    enforce_cache_limit()
    assert not old.exists()
    assert not lowered(run(another_option(job)))


def test_a_cache_is_looked_through_once_an_hour_for_one_limit(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assay.toml").write_text('[cache]\nmax-size = "1kB"\n')
    run(job)
    enforce_cache_limit()
    long_ago = time.time() - 7200
    os.utime(_entry() / "entry.msgpack", (long_ago, long_ago))
    enforce_cache_limit()
    assert _entry().is_dir()
    os.utime(user_cache() / "enforced-limit", (long_ago, long_ago))
    old = _entry()
    enforce_cache_limit()
    assert not old.exists()

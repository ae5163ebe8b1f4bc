"""Goldens of prompts: their tokens alone, or a sketch of each answer; a check with them is that of the model, and small."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import assay
from assay.core.model import TensorSpec
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.errors import BadGolden, UsageError
from assay.models.files import file_digest
from assay.models.goldens import read_lock, write_contents
from assay.models.onnx_file import open_model
from assay.models.own_data.prompts.short_goldens import read_sketches
from assay.models.tensors import TensorFile
from assay.worker.inputs.load_inputs import check_golden, feed
from command_line import run_assay
from language_model import write

EXAMPLE = Path(__file__).parents[2] / "examples" / "language-model"
PROMPTS = "[1, 2, 3, 4, 5, 6, 7]\n[3, 1, 4, 1, 5]\n[2, 7, 1]\n"
SHOWS = {
    "counts positions from each call's first": "on the cache",
    "reads a batch mate": "beside other prompts in a batch",
    "sees padding": "behind padding, beside longer prompts",
}


Tensors = dict[str, np.ndarray[Any, Any]]
HOSTILE: dict[str, Callable[[Tensors], Tensors]] = {
    "a row less": lambda sketch: {"mass": sketch["mass"][:-1]},
    "a token too many": lambda sketch: {"ids": sketch["ids"] + np.uint32(16)},
    "a token below 0": lambda sketch: {"ids": sketch["ids"].astype(np.int64) - 1},
    "a token twice": lambda sketch: {"ids": np.zeros_like(sketch["ids"])},
    "no columns": lambda sketch: {"ids": sketch["ids"][:, :0], "logs": sketch["logs"][:, :0]},
    "fewer sums": lambda sketch: {"sums": sketch["sums"][:, :7]},
    "mass of two axes": lambda sketch: {"mass": sketch["mass"][:, None]},
    "mass below 0": lambda sketch: {"mass": sketch["mass"] - 1.0},
    "mass of 2": lambda sketch: {"mass": sketch["mass"] + 2.0},
    "squares below 0": lambda sketch: {"squares": sketch["squares"] - 1.0},
    "noise below 0": lambda sketch: {"noise": -1.0 - sketch["noise"]},
    "endless noise": lambda sketch: {"noise": np.full_like(sketch["noise"], np.inf)},
    "noise whose square is no number": lambda sketch: {"noise": np.full_like(sketch["noise"], 1e308)},
    "logs of NaN": lambda sketch: {"logs": np.full_like(sketch["logs"], np.nan)},
    "logs of 1e308": lambda sketch: {"logs": np.full_like(sketch["logs"], 1e308)},
    "the least probable first": lambda sketch: {"logs": np.ascontiguousarray(sketch["logs"][:, ::-1])},
}


def _recorded(folder: Path, *words: str) -> Path:
    (folder / "prompts.jsonl").write_text(PROMPTS, "utf-8")
    write(folder / "lm.onnx")
    record = ("golden", "record", "lm.onnx", "golden", "--inputs", "prompts.jsonl", "--reason", "a test")
    done = run_assay(*record, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "golden"


def _checked(folder: Path) -> VerifyResult:
    checked = assay.check(folder / "lm.onnx", golden=folder / "golden", measure=False, history=folder / ".assay")
    (result,) = checked.results
    assert isinstance(result, VerifyResult)
    return result


def test_tokens_alone_are_kept_where_the_reference_can_answer_again(tmp_path: Path) -> None:
    golden = _recorded(tmp_path)
    assert read_lock(golden).form == "ids"
    assert sorted(path.name for path in golden.iterdir()) == ["golden.lock", "inputs.safetensors"]
    with TensorFile(golden / "inputs.safetensors") as file:
        stored = [file.read(name) for name in sorted(file.tensors)]
    assert [array.tolist() for array in stored] == [[[1, 2, 3, 4, 5, 6, 7]], [[3, 1, 4, 1, 5]], [[2, 7, 1]]]
    result = _checked(tmp_path)
    assert result.outcome is Outcome.OK, result.detail
    assert {name for name in result.task_metrics if name.startswith("schedule_kl_")} >= {
        "schedule_kl_steps",
        "schedule_kl_padding",
    }


@pytest.mark.parametrize("form", ["ids", "sketch"])
def test_another_model_is_refused(tmp_path: Path, form: str) -> None:
    _recorded(tmp_path, "--form", form)
    write(tmp_path / "lm.onnx", "sees padding")
    with pytest.raises(UsageError, match="was recorded for model"):
        _checked(tmp_path)


def test_a_sketch_proves_a_right_engine_right(tmp_path: Path) -> None:
    _recorded(tmp_path, "--form", "sketch")
    result = _checked(tmp_path)
    assert result.outcome is Outcome.OK, result.detail
    (comparison,) = result.comparisons
    assert 0.0 < comparison.metrics["budget_used"] < 1.0
    assert 0.0 <= result.task_metrics["kl_max_least"] <= result.task_metrics["kl_max"] < 1e-9
    assert result.task_metrics["next_token_agreement"] == 1.0


@pytest.mark.parametrize("fault", ["counts positions from each call's first", "reads a batch mate", "sees padding"])
def test_an_engine_that_answers_otherwise_in_one_schedule_fails_by_a_sketch(tmp_path: Path, fault: str) -> None:
    """Prompts that are fed whole are answered alike by all of them: the golden of the right model, given out as that of the wrong one."""
    golden = _recorded(tmp_path, "--form", "sketch")
    lock, contents = read_lock(golden), {}
    for role, name in (("input", "inputs"), ("sketch", "sketches")):
        with TensorFile(golden / f"{name}.safetensors") as file:
            contents[role] = {tensor: file.read(tensor) for tensor in file.tensors}
    wrong = write(tmp_path / "lm.onnx", fault)
    write_contents(golden, msgspec.structs.replace(lock, model_digest=file_digest(wrong)), contents)
    result = _checked(tmp_path)
    assert result.outcome is Outcome.MISMATCH, result.detail
    assert SHOWS[fault] in result.detail
    assert "nats from the golden" in result.detail


@pytest.mark.parametrize("option", ["--save-inputs", "--save-outputs", "--reference"])
def test_what_takes_whole_answers_is_refused_before_anything_runs(tmp_path: Path, option: str) -> None:
    _recorded(tmp_path, "--form", "sketch")
    done = run_assay("check", "lm.onnx", "--golden", "golden", option, "lm.onnx", cwd=tmp_path)
    assert done.returncode == 2
    assert f"golden keeps sketches, and '{option}' needs whole answers: leave it out" in done.stderr
    assert "lowering" not in done.stderr
    assert "building" not in done.stderr


def test_a_sketch_that_was_changed_is_refused(tmp_path: Path) -> None:
    golden = _recorded(tmp_path, "--form", "sketch")
    data = bytearray((golden / "sketches.safetensors").read_bytes())
    data[-1] ^= 1
    (golden / "sketches.safetensors").write_bytes(bytes(data))
    with pytest.raises(UsageError, match="sha256"):
        _checked(tmp_path)


def test_sketches_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Written with a digest of their own, as a hostile one would be."""
    golden = _recorded(tmp_path, "--form", "sketch")
    lock = read_lock(golden)
    with TensorFile(golden / "sketches.safetensors") as file:
        sketches = {name: file.read(name) for name in file.tensors}
    with TensorFile(golden / "inputs.safetensors") as file:
        tokens = {name: file.read(name) for name in file.tensors}
    for hostile in HOSTILE.values():
        write_contents(golden, lock, {"input": tokens, "sketch": sketches | hostile(sketches)})
        with pytest.raises(BadGolden, match="do not fit its prompts"):
            read_sketches(golden, lock.model_digest)
    lost = {name: sketch for name, sketch in sketches.items() if name != "noise"}
    for changed, broken in (
        (lock, {"input": tokens, "sketch": lost}),
        (msgspec.structs.replace(lock, seed=-1), {"input": tokens, "sketch": sketches}),
        (msgspec.structs.replace(lock, vocabulary=10**12), {"input": tokens, "sketch": sketches}),
    ):
        write_contents(golden, changed, broken)
        with pytest.raises(BadGolden, match="do not fit its prompts"):
            read_sketches(golden, lock.model_digest)


def test_tokens_and_vocabulary_are_those_of_the_model(tmp_path: Path) -> None:
    golden = _recorded(tmp_path, "--form", "sketch")
    lock, model = read_lock(golden), open_model(tmp_path / "lm.onnx")
    with TensorFile(golden / "sketches.safetensors") as file:
        sketches = {name: file.read(name) for name in file.tensors}
    with TensorFile(golden / "inputs.safetensors") as file:
        tokens = {name: file.read(name) for name in file.tensors}
    for token in (-9, 16):
        write_contents(
            golden, lock, {"input": {name: array + token for name, array in tokens.items()}, "sketch": sketches}
        )
        with pytest.raises(BadGolden, match="has a token"):
            read_sketches(golden, lock.model_digest)
    for odd in ({name: array + 0.5 for name, array in tokens.items()}, {}):
        write_contents(golden, lock, {"input": odd, "sketch": sketches})
        with pytest.raises(BadGolden, match="record the golden again"):
            read_sketches(golden, lock.model_digest)
    write_contents(golden, lock, {"input": tokens, "sketch": sketches})
    sketched = read_sketches(golden, lock.model_digest)
    check_golden(golden, model)
    other = replace(sketched, lock=msgspec.structs.replace(lock, vocabulary=17))
    with pytest.raises(BadGolden, match="sketches are of 17 tokens, and lm knows 16"):
        feed(other, model)
    more = msgspec.structs.replace(model, outputs=(*model.outputs, TensorSpec("hidden", "float32", (1,))))
    with pytest.raises(BadGolden, match="lm gives 'hidden'"):
        feed(sketched, more)


def test_an_update_keeps_the_form(tmp_path: Path) -> None:
    golden = _recorded(tmp_path, "--form", "sketch")
    assert run_assay("golden", "diff", "golden", "lm.onnx", cwd=tmp_path).stdout == "nothing would change\n"
    write(tmp_path / "lm.onnx", "sees the next token")
    changed = run_assay("golden", "diff", "golden", "lm.onnx", cwd=tmp_path)
    assert changed.returncode == 1
    assert "model: " in changed.stdout
    pattern = r"sketches: \d+ of \d+ changed, the farthest by at least ([\d.e-]+) nats, after \d+ tokens"
    moved = re.search(pattern, changed.stdout)
    assert moved is not None, changed.stdout
    assert float(moved[1]) > 0.0
    done = run_assay("golden", "update", "golden", "lm.onnx", "--yes", "--reason", "another", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_lock(golden).form == "sketch"
    assert [revision.reason for revision in read_lock(golden).revisions()] == ["a test", "another"]


def test_outputs_that_are_kept_have_no_other_form(tmp_path: Path) -> None:
    words = ("golden", "record", "lm.onnx", "golden", "--inputs", "data.npz", "--reason", "a test", "--keep-outputs")
    done = run_assay(*words, "--form", "sketch", cwd=tmp_path)
    assert done.returncode == 2
    assert "--keep-outputs stores answers as they are, and --form sketch does not" in done.stderr


def test_a_model_without_prompts_is_kept_whole(tmp_path: Path) -> None:
    write(tmp_path / "lm.onnx")
    record = ("golden", "record", "lm.onnx", "golden", "--samples", "2", "--reason", "a test")
    done = run_assay(*record, "--form", "sketch", cwd=tmp_path)
    assert done.returncode == 2
    assert "inputs are no prompts" in done.stderr
    assert not (tmp_path / "golden").exists()


@pytest.mark.slow
def test_a_token_takes_less_than_four_kilobytes(tmp_path: Path) -> None:
    """Of a vocabulary larger than what is stored as it is, the folder as a whole."""
    tokens = 0
    for form, most in (("ids", 40), ("sketch", 4000)):
        golden = tmp_path / form
        words = (
            "golden",
            "record",
            str(EXAMPLE / "models" / "rotary.onnx"),
            str(golden),
            "--form",
            form,
            "--reason",
            "t",
        )
        data = ("--inputs", str(EXAMPLE / "prompts.txt"), "--tokenizer", str(EXAMPLE / "tokenizer.json"))
        done = run_assay(*words, *data, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        with TensorFile(golden / "inputs.safetensors") as file:
            tokens = sum(file.read(name).size for name in file.tensors)
        assert sum(path.stat().st_size for path in golden.iterdir()) <= most * tokens
    assert tokens > 100

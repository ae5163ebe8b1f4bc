"""Golden folders: written, read back, verified, compared."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import pytest

from assay.core.model import Model, TensorSpec
from assay.errors import BadGolden, NotWritable
from assay.judge.words.note_text import note_text
from assay.models.goldens import diff_goldens, read_golden, read_lock, verify_golden, write_golden

MODEL = Model(
    name="net",
    source="net.onnx",
    digest="a" * 64,
    inputs=(TensorSpec("x", "float32", ("N", 4)),),
    outputs=(TensorSpec("y", "bfloat16", ("N", 2)), TensorSpec("n", "int64", ())),
)
INPUTS = [{"x": np.full((1, 4), i, np.float32)} for i in range(3)]
OUTPUTS = [{"y": np.full((1, 2), i, ml_dtypes.bfloat16), "n": np.array(i)} for i in range(3)]


def write(folder: Path, **changes: Any) -> Path:
    arguments: dict[str, Any] = {
        "model": MODEL,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
        "labels": {"class": np.arange(3)},
    }
    arguments |= {"seed": 7, "producer": "reference", "producer_version": "1.23.2", "who": "ada", "reason": "first"}
    write_golden(folder, **(arguments | {"created_at": "2026-11-21T14:19:05+00:00"} | changes))
    return folder


def _write_often(folder: Path) -> None:
    for _ in range(40):
        write(folder)


def test_two_processes_that_write_the_same_at_once_both_succeed(tmp_path: Path) -> None:
    """As two runs on one history do, where both lack the reference of a model."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_write_often, [tmp_path / "g"] * 2))
    assert verify_golden(tmp_path / "g", MODEL) == []


def test_what_was_written_is_read(tmp_path: Path) -> None:
    golden = read_golden(write(tmp_path / "g"), MODEL.digest, model=MODEL)
    for read, given in ((golden.inputs, INPUTS), (golden.outputs, OUTPUTS)):
        for sample, expected in zip(read, given, strict=True):
            assert list(sample) == list(expected), "in the order of the model"
            for name, array in expected.items():
                assert isinstance(sample[name], np.ndarray)
                assert (sample[name].dtype, sample[name].shape) == (array.dtype, array.shape)
                assert sample[name].tolist() == array.tolist()
    assert golden.labels["class"].tolist() == [0, 1, 2]
    lock = golden.lock
    assert (lock.who, lock.reason, lock.seed, lock.samples, lock.producer) == ("ada", "first", 7, 3, "reference")
    assert verify_golden(tmp_path / "g", MODEL) == []


def test_samples_of_different_shape_are_kept_apart(tmp_path: Path) -> None:
    outputs = [{"y": np.arange(2.0 * i).reshape(i, 2)} for i in range(3)]
    golden = read_golden(write(tmp_path / "g", outputs=outputs))
    assert [sample["y"].tolist() for sample in golden.outputs] == [sample["y"].tolist() for sample in outputs]
    stored = {tensor.name: tensor.shape for tensor in golden.lock.files[1].tensors}
    assert stored == {"y@00000": (0, 2), "y@00001": (1, 2), "y@00002": (2, 2)}


def test_text_of_different_length_is_stacked(tmp_path: Path) -> None:
    outputs = [{"y": np.array(text)} for text in ("yes", "no", "")]
    golden = read_golden(write(tmp_path / "g", outputs=outputs))
    assert [sample["y"].item() for sample in golden.outputs] == ["yes", "no", ""]
    assert golden.lock.files[1].tensors[0].shape == (3,)


def test_a_model_without_inputs(tmp_path: Path) -> None:
    assert read_golden(write(tmp_path / "g", inputs=[{}] * 3)).inputs == [{}, {}, {}]


def test_equal_content_gives_equal_bytes_and_a_lock_for_git(tmp_path: Path) -> None:
    first, two = write(tmp_path / "one"), write(tmp_path / "two")
    names = ["golden.lock", "inputs.safetensors", "labels.safetensors", "outputs.safetensors"]
    assert sorted(file.name for file in first.iterdir()) == names
    assert all((first / name).read_bytes() == (two / name).read_bytes() for name in names)
    text = (first / "golden.lock").read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"


def test_a_golden_is_replaced_whole(tmp_path: Path) -> None:
    write(tmp_path / "g")
    write(tmp_path / "g", inputs=INPUTS[:1], outputs=OUTPUTS[:1], labels=None)
    assert verify_golden(tmp_path / "g", MODEL) == []
    assert read_golden(tmp_path / "g").labels == {}


def test_a_refused_write_leaves_the_old_golden(tmp_path: Path) -> None:
    folder = write(tmp_path / "g")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(BadGolden):
        write(folder, outputs=[{"y": np.array([None])}] * 3)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "g").touch()
    with pytest.raises(NotWritable, match=r"g cannot be written \(File exists\); give a folder you may write to$"):
        write(tmp_path / "g")


def test_new_files_with_an_old_lock_are_refused(tmp_path: Path) -> None:
    """What a power cut between the renames leaves."""
    old, new = write(tmp_path / "old"), write(tmp_path / "new", inputs=INPUTS[::-1])
    shutil.copy(new / "inputs.safetensors", old)
    with pytest.raises(BadGolden, match=r"inputs\.safetensors has sha256"):
        read_golden(old)


@pytest.mark.parametrize("name", ["golden.lock", "outputs.safetensors"])
def test_what_has_no_end_is_not_read(tmp_path: Path, name: str) -> None:
    for number, make in enumerate((os.mkfifo, lambda path: path.symlink_to("/dev/zero"))):
        folder = write(tmp_path / str(number))
        (folder / name).unlink()
        make(folder / name)
        with pytest.raises(BadGolden, match=f"{name} is not a regular file"):
            read_golden(folder)


def test_a_lock_that_describes_other_tensors_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "g")
    text = (folder / "golden.lock").read_text()
    (folder / "golden.lock").write_text(text.replace('"name": "x"', '"name": "z"'))
    with pytest.raises(BadGolden, match=r"holds other tensors than golden\.lock says"):
        read_golden(folder)


def test_all_problems_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "g")
    (folder / "inputs.safetensors").unlink()
    (folder / "extra.npy").touch()
    (folder / ".inputs.safetensors.7.tmp").touch()
    for name in ("README.md", ".gitattributes", "inputs.safetensors.dvc"):
        (folder / name).touch()
    other = msgspec.structs.replace(MODEL, digest="b" * 64, inputs=(TensorSpec("x", "float16", (2, 4)),))
    assert [note_text(problem).removeprefix(str(folder)).split(";")[0] for problem in verify_golden(folder, other)] == [
        "/inputs.safetensors is missing, though golden.lock lists it",
        "/.inputs.safetensors.7.tmp is unused: golden.lock does not list it",
        "/extra.npy is unused: golden.lock does not list it",
        " was recorded for model aaaaaaaaaaaa, but this model is bbbbbbbbbbbb",
        ": input 'x' is float32, the model says float16",
        ": input 'x' has shape [1, 4], the model says [2, 4]",
    ]


def test_the_types_of_a_model_stay_where_its_golden_is_written_again(tmp_path: Path) -> None:
    assert read_lock(write(tmp_path / "g")).coarse is msgspec.UNSET
    assert read_lock(write(tmp_path / "g", coarse=("int8",))).coarse == ("int8",)
    assert read_lock(write(tmp_path / "g", reason="again")).coarse == ("int8",)
    assert read_lock(write(tmp_path / "g", coarse=())).coarse == ()
    assert read_lock(write(tmp_path / "g")).coarse == ()
    other = msgspec.structs.replace(MODEL, digest="b" * 64)
    assert read_lock(write(tmp_path / "g", model=other)).coarse is msgspec.UNSET


def test_nan_and_infinity_are_values_like_others(tmp_path: Path) -> None:
    outputs = [{"y": np.array([[np.inf, np.nan]], ml_dtypes.bfloat16), "n": np.array(1)}] * 3
    inputs = [{"x": np.array([[np.nan, -np.inf, 1, 2]], np.float32)}] * 3
    folder = write(tmp_path / "g", inputs=inputs, outputs=outputs)
    golden = read_golden(folder, model=MODEL)
    assert np.isnan(golden.outputs[0]["y"][0, 1].astype(float))
    assert np.isnan(golden.inputs[2]["x"][0, 0])
    assert verify_golden(folder, MODEL) == []


def test_parts_of_a_sequence_may_be_in_some_samples_alone(tmp_path: Path) -> None:
    outputs = [
        {"s[]": np.array(1), "s[0]": np.zeros(2, np.float32)},
        {"s[]": np.array(2), "s[0]": np.ones(3, np.float32), "s[1]": np.ones(1, np.float32)},
        {"s[]": np.array(0)},
    ]
    model = msgspec.structs.replace(MODEL, outputs=(TensorSpec("s", "sequence", ()),))
    golden = read_golden(write(tmp_path / "g", model=model, outputs=outputs), model=model)
    assert [sorted(output) for output in golden.outputs] == [["s[0]", "s[]"], ["s[0]", "s[1]", "s[]"], ["s[]"]]
    assert golden.outputs[1]["s[0]"].tolist() == [1, 1, 1]


def test_diff_of_equal_goldens_is_empty(tmp_path: Path) -> None:
    outputs = [{"y": np.array([np.nan, 1.0]), "t": np.array(["a", "b"])}] * 3
    golden = read_golden(write(tmp_path / "g", outputs=outputs))
    assert diff_goldens(golden, golden) == []


def test_diff_says_what_changed(tmp_path: Path) -> None:
    old = read_golden(write(tmp_path / "old"))
    outputs = [{"y": OUTPUTS[i]["y"].copy(), "extra": np.zeros(1)} for i in range(3)]
    outputs[1]["y"][0, 1] = 1.5
    outputs[2]["y"][0, 0] = 4.0
    inputs = [{"x": INPUTS[0]["x"].astype(np.float64)}] * 3
    new = read_golden(
        write(tmp_path / "new", model=msgspec.structs.replace(MODEL, digest="b" * 64), inputs=inputs, outputs=outputs)
    )
    new = replace(new, labels={"class": np.array([0, 1, 5])})
    assert diff_goldens(old, new) == [
        "model: aaaaaaaaaaaa -> bbbbbbbbbbbb",
        "input x: dtype float32 -> float64",
        "output y: 2 of 6 elements changed, largest difference 2 (sample 2, index [0, 0])",
        "output n: removed",
        "output extra: added",
        "label class: 1 of 3 elements changed, largest difference 3 (sample 0, index [2])",
    ]


def test_diff_sees_numbers_of_samples_and_shapes(tmp_path: Path) -> None:
    old = read_golden(write(tmp_path / "old"))
    wide = [{"x": np.zeros((1, 5), np.float32)}] * 2
    new = read_golden(write(tmp_path / "new", inputs=wide, outputs=OUTPUTS[:2], labels=None))
    assert diff_goldens(old, new) == [
        "samples: 3 -> 2",
        "input x: shape [1, 4] -> [1, 5] in sample 0",
        "label class: removed",
    ]


def test_lock_round_trip(tmp_path: Path) -> None:
    folder = write(tmp_path / "g")
    lock = read_lock(folder)
    assert msgspec.json.decode((folder / "golden.lock").read_bytes(), type=type(lock)) == lock

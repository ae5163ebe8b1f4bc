"""The whole sentence that a user reads for each bad golden folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.core.model import Model, TensorSpec
from assay.errors import BadGolden
from assay.models.goldens import read_golden, write_golden

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
MODEL = Model(
    name="net",
    source="net.onnx",
    digest="a" * 64,
    inputs=(TensorSpec("x", "float32", ("N", 4)),),
    outputs=(TensorSpec("y", "float32", (1, 2)),),
)


def write(folder: Path, **changes: Any) -> None:
    arguments: dict[str, Any] = {
        "model": MODEL,
        "inputs": [{"x": np.full((1, 4), i, np.float32)} for i in range(3)],
        "outputs": [{"y": np.full((1, 2), i, np.float32)} for i in range(3)],
    }
    arguments |= {"seed": 7, "producer": "reference", "producer_version": "1", "who": "ada", "reason": "first"}
    write_golden(folder, **(arguments | {"created_at": "2026-11-21T14:19:05+00:00"} | changes))


def written(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: write(folder, **changes)


def spoiled(name: str, spoil: Callable[[bytes], bytes | None]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        write(folder)
        content = spoil((folder / name).read_bytes())
        (folder / name).unlink()
        if content is not None:
            (folder / name).write_bytes(content)

    return prepare


def model(**changes: Any) -> Model:
    return msgspec.structs.replace(MODEL, **changes)


SIZED = "{g}/outputs.safetensors has 95 bytes, golden.lock says 96; restore it or run assay golden update"
CASES: dict[str, tuple[Callable[[Path], object], Model, str]] = {
    "missing": (
        lambda folder: None,
        MODEL,
        "{g} is no folder; give a golden folder or record one with assay golden record",
    ),
    "no lock": (Path.mkdir, MODEL, "{g} has no golden.lock; give a golden folder or run assay golden record"),
    "lock is a pointer": (
        spoiled("golden.lock", lambda lock: POINTER),
        MODEL,
        "{g}/golden.lock is a Git LFS pointer, not the file itself; run git lfs pull",
    ),
    "lock is no JSON": (
        spoiled("golden.lock", lambda lock: b"<<<<<<< HEAD"),
        MODEL,
        "{g}/golden.lock is no lock of a golden (JSON is malformed: invalid character (byte 0)); "
        "restore it or record the golden again",
    ),
    "lock lacks a field": (
        spoiled("golden.lock", lambda lock: lock.replace(b'"seed"', b'"sead"')),
        MODEL,
        "{g}/golden.lock is no lock of a golden (Object missing required field `seed`); "
        "restore it or record the golden again",
    ),
    "lock of a newer version": (
        spoiled("golden.lock", lambda lock: b'{"version": 4, "other": "fields"}'),
        MODEL,
        "{g}/golden.lock has version 4, this assay knows 3; upgrade assay",
    ),
    "another form": (
        spoiled("golden.lock", lambda lock: lock.replace(b'"form": "whole"', b'"form": "ids"')),
        MODEL,
        "{g} keeps the tokens of prompts, and no answers to compare with (form ids): give it with --inputs, or record a golden with "
        "--form whole",
    ),
    "no samples": (
        spoiled("golden.lock", lambda lock: lock.replace(b'"samples": 3', b'"samples": 0')),
        MODEL,
        "{g}/golden.lock says 0 samples; restore it or record the golden again",
    ),
    "escaping file": (
        spoiled("golden.lock", lambda lock: lock.replace(b'"outputs.safetensors"', b'"../outputs.safetensors"')),
        MODEL,
        "{g}/golden.lock lists no outputs.safetensors; record the golden again",
    ),
    "file missing": (
        spoiled("outputs.safetensors", lambda content: None),
        MODEL,
        "{g}/outputs.safetensors is missing, though golden.lock lists it; restore it or record the golden again",
    ),
    "file is a pointer": (
        spoiled("outputs.safetensors", lambda content: POINTER),
        MODEL,
        "{g}/outputs.safetensors is a Git LFS pointer, not the file itself; run git lfs pull",
    ),
    "file truncated": (spoiled("outputs.safetensors", lambda content: content[:-1]), MODEL, SIZED),
    "file changed": (
        spoiled("outputs.safetensors", lambda content: content[:-1] + b"\x01"),
        MODEL,
        "{g}/outputs.safetensors has sha256 {now}, golden.lock says {then}; restore it or run assay golden update",
    ),
    "other model": (
        written(),
        model(digest="b" * 64),
        "{g} was recorded for model aaaaaaaaaaaa, but this model is bbbbbbbbbbbb; "
        "run assay golden update if the change is intended, or judge this model by that one's answers with "
        "--golden-of-another-model (or --reference OLD)",
    ),
    "other shape": (
        written(),
        model(inputs=(TensorSpec("x", "float32", (2, 4)),)),
        "{g}: input 'x' has shape [1, 4], the model says [2, 4]; run assay golden update",
    ),
    "other rank in one sample": (
        written(inputs=[{"x": np.zeros((1, 4), np.float32)}] * 2 + [{"x": np.zeros(4, np.float32)}]),
        MODEL,
        "{g}: input 'x' of sample 2 has shape [4], the model says [N, 4]; run assay golden update",
    ),
    "other dtype": (
        written(),
        model(inputs=(TensorSpec("x", "float16", ("N", 4)),)),
        "{g}: input 'x' is float32, the model says float16; run assay golden update",
    ),
    "missing output": (
        written(),
        model(outputs=(*MODEL.outputs, TensorSpec("z", "float32", ()))),
        "{g} lacks the output 'z' of model net; run assay golden update",
    ),
    "unused input": (
        written(),
        model(inputs=()),
        "{g} has an unused input 'x', which model net lacks; run assay golden update",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_bad_golden_is_refused_with_this_sentence(name: str, tmp_path: Path) -> None:
    prepare, expected_model, sentence = CASES[name]
    folder = tmp_path / "golden"
    prepare(folder)
    with pytest.raises(BadGolden) as caught:
        read_golden(folder, model=expected_model)
    text = str(caught.value)
    if "{now}" in sentence:
        words = text.split()
        sentence = sentence.replace("{now}", words[3].rstrip(",")).replace("{then}", words[6].rstrip(";"))
        assert len(words[3].rstrip(",")) == len(words[6].rstrip(";")) == 12
        assert words[3].rstrip(",") != words[6].rstrip(";")
    assert text == sentence.replace("{g}", str(folder))


WRITES: dict[str, tuple[dict[str, Any], str]] = {
    "no sample": ({"inputs": [], "outputs": []}, "0 inputs and 0 outputs make no golden; give one output per input"),
    "counts": (
        {"inputs": [{"x": np.zeros(1)}]},
        "1 inputs and 3 outputs make no golden; give one output per input",
    ),
    "names": (
        {"outputs": [{"y": np.zeros(1)}, {"z": np.zeros(1)}, {"y": np.zeros(1)}]},
        "sample 1 and sample 0 do not have the same outputs (y, z); give all or none",
    ),
    "reserved name": (
        {"outputs": [{"y@00001": np.zeros(1)}] * 3},
        "output 'y@00001' cannot be stored under this name; rename it in the model",
    ),
    "labels": (
        {"labels": {"class": np.zeros(2)}},
        "label 'class' has shape [2] for 3 samples; give one per sample",
    ),
    "objects": (
        {"outputs": [{"y": np.array([None])}] * 3},
        "{g} was not written: an array of objects holds something that is neither str nor bytes; "
        "give arrays of numbers or text",
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_makes_no_golden_is_not_written(name: str, tmp_path: Path) -> None:
    changes, sentence = WRITES[name]
    with pytest.raises(BadGolden) as caught:
        write(tmp_path / "golden", **changes)
    assert str(caught.value) == sentence.replace("{g}", str(tmp_path / "golden"))
    assert not [file for file in tmp_path.rglob("*") if file.is_file()], "not even a temporary file"

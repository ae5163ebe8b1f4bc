"""Whatever a file holds, it is opened or refused with one sentence that names it; nothing outside its folder is read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assay.errors import BadModel
from assay.models.examination.steps import examine
from assay.models.onnx_file import open_model
from assay.testing.broken_models.good import good_models
from assay.testing.broken_models.random_damage import mutations
from assay.testing.broken_models.special import SPECIAL

SLOW = {"many-parts", "many-attributes", "wide-and-unsorted"}
"""Seconds each: they are in benchmarks/hostile_files.py."""


def opened(path: Path) -> str:
    """The sentence; "" where it is a model."""
    try:
        open_model(path)
    except BadModel as error:
        return str(error)
    return ""


def test_what_mutations_start_from_is_sound(tmp_path: Path) -> None:
    good = good_models(tmp_path)
    assert [opened(path) for path in good] == [""] * 9
    assert "step-failed" not in {finding.code for path in good for finding in examine(path).findings}


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models"
    names = [path.name for path in good_models(folder)]
    monkeypatch.chdir(tmp_path)
    assert {opened(Path("models") / name) for name in names} == {""}
    monkeypatch.chdir(folder)
    assert {opened(Path(name)) for name in names} == {""}


@pytest.mark.parametrize("seed", range(4))
def test_mutations_of_good_models(seed: int, tmp_path: Path) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(bytes(64))
    refused = 0
    for name, data in mutations(good_models(tmp_path / "good"), seed, 60):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "link.bin").symlink_to(secret)
        os.link(secret, folder / "hard.bin")
        (folder / "model.onnx").write_bytes(data)
        refusal = opened(folder / "model.onnx")
        assert refusal or "step-failed" not in {finding.code for finding in examine(folder / "model.onnx").findings}, (
            name
        )
        assert not refusal or (refusal.startswith(str(folder / "model.onnx")) and "\n" not in refusal), name
        refused += bool(refusal)
    assert 30 <= refused < 60, "a seed that refuses all, or none, tests nothing"


@pytest.mark.parametrize("name", sorted(set(SPECIAL) - SLOW))
def test_what_is_no_model_at_all(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    SPECIAL[name](path)
    begin = time.process_time()
    refusal = opened(path)
    assert time.process_time() - begin < 5.0, "a gibibyte is not read"
    assert (refusal == "") == (name == "external-gibibyte")
    assert not refusal or (refusal.startswith(str(path)) and "; " in refusal)

"""Kept reference answers and tolerances that a full disk, a killed run or a bad disk left damaged."""

import shutil
from pathlib import Path

import pytest
from onnx import helper

from assay.models.tolerance_file import read_header
from command_line import run_assay
from mutating import F, save

CHECK = ("check", "m.onnx", "--flow", "onnxruntime", "--only-kind", "verify")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and all that one check of it has kept. Read only: a test works on a copy."""
    folder = tmp_path_factory.mktemp("checked")
    save(folder / "m.onnx", [helper.make_node("Exp", ["x"], ["y"])], {"x": (F, [2, 8])}, {"y": (F, [2, 8])})
    done = run_assay(*CHECK, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def here(checked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(checked, tmp_path / "here"))


@pytest.mark.parametrize("name", ["golden.lock", "outputs.safetensors", "inputs.safetensors"])
def test_reference_answers_that_are_damaged_are_computed_again(here: Path, name: str) -> None:
    (kept,) = (here / ".assay" / "oracle").glob(f"*/{name}")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    again = run_assay(*CHECK, cwd=here)
    assert again.returncode == 0, again.stdout + again.stderr
    assert [*(here / ".assay" / "oracle").glob(f"*/{name}")] == [kept]
    assert kept.stat().st_size > len(whole) // 2, "it was not written again"


@pytest.mark.parametrize("name", ["profile.json", "oracle.safetensors", "deviation.safetensors", "margins.safetensors"])
@pytest.mark.parametrize("how", ["truncated", "flipped", "missing"])
def test_a_tolerance_that_is_damaged_is_derived_again(here: Path, name: str, how: str) -> None:
    """A flipped bit of a deviation widened the tolerance and was not seen."""
    (kept,) = (here / ".assay" / "profiles").glob(f"*/{name}")
    whole = kept.read_bytes()
    if how == "missing":
        kept.unlink()
    else:
        last = -3 if name == "profile.json" else -1
        changed = bytearray(whole)
        changed[last] ^= 1
        kept.write_bytes(whole[: len(whole) // 2] if how == "truncated" else changed)
    again = run_assay(*CHECK, cwd=here)
    assert again.returncode == 0, again.stdout + again.stderr
    if name != "profile.json":  # which says how long it took
        assert kept.read_bytes() == whole
    assert read_header(kept.parent) is not None

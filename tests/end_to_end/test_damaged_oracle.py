"""Kept reference answers and tolerances that a full disk, a killed run or a bad disk left damaged."""

from pathlib import Path

import pytest
from onnx import helper

from assay.models.tolerances import read_header
from mutating import F, run_assay, save


@pytest.mark.parametrize("name", ["golden.lock", "outputs.safetensors", "inputs.safetensors"])
def test_reference_answers_that_are_damaged_are_computed_again(tmp_path: Path, name: str) -> None:
    save(tmp_path / "m.onnx", [helper.make_node("Exp", ["x"], ["y"])], {"x": (F, [2, 8])}, {"y": (F, [2, 8])})
    check = ("check", "m.onnx", "--flow", "onnxruntime", "--only-kind", "verify")
    assert run_assay(*check, cwd=tmp_path).returncode == 0
    (kept,) = (tmp_path / ".assay" / "oracle").glob(f"*/{name}")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    again = run_assay(*check, cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize("name", ["profile.json", "oracle.safetensors", "deviation.safetensors", "margins.safetensors"])
@pytest.mark.parametrize("how", ["truncated", "flipped", "missing"])
def test_a_tolerance_that_is_damaged_is_derived_again(tmp_path: Path, name: str, how: str) -> None:
    """A flipped bit of a deviation widened the tolerance and was not seen."""
    save(tmp_path / "m.onnx", [helper.make_node("Exp", ["x"], ["y"])], {"x": (F, [2, 8])}, {"y": (F, [2, 8])})
    check = ("check", "m.onnx", "--flow", "onnxruntime", "--only-kind", "verify")
    assert run_assay(*check, cwd=tmp_path).returncode == 0
    (kept,) = (tmp_path / ".assay" / "profiles").glob(f"*/{name}")
    whole = kept.read_bytes()
    if how == "missing":
        kept.unlink()
    else:
        last = -3 if name == "profile.json" else -1
        changed = bytearray(whole)
        changed[last] ^= 1
        kept.write_bytes(whole[: len(whole) // 2] if how == "truncated" else changed)
    again = run_assay(*check, cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    if name != "profile.json":  # which says how long it took
        assert kept.read_bytes() == whole
    assert read_header(kept.parent) is not None

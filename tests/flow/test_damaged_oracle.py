"""Kept reference answers that a full disk or a killed run left damaged."""

from pathlib import Path

import pytest
from onnx import helper

from mutating import F, run_assay, save


@pytest.mark.parametrize("name", ["golden.lock", "outputs.safetensors", "inputs.safetensors"])
def test_reference_answers_that_are_damaged_are_computed_again(tmp_path: Path, name: str) -> None:
    save(tmp_path / "m.onnx", [helper.make_node("Exp", ["x"], ["y"])], {"x": (F, [2, 8])}, {"y": (F, [2, 8])})
    check = ("check", "m.onnx", "--flow", "onnxruntime", "--task", "verify")
    assert run_assay(*check, cwd=tmp_path).returncode == 0
    (kept,) = (tmp_path / ".assay" / "oracle").glob(f"*/{name}")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    again = run_assay(*check, cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr

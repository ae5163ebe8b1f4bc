"""What the quantizers of ONNX Runtime leave behind stays in the folder of the job."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

from assay.transforms.onnxruntime_quantization import prepared
from small_models import linear_model


def test_what_preparation_leaves_in_the_current_directory_is_in_the_folder_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its symbolic shapes write the model beside them where they fail."""
    here, folder = tmp_path / "here", tmp_path / "job"
    here.mkdir()
    folder.mkdir()
    linear_model(here / "m.onnx")
    monkeypatch.chdir(here)

    def fails(*_: object, **__: object) -> None:
        Path("sym_shape_infer_temp.onnx").touch()
        raise RuntimeError("incomplete symbolic shape inference")

    monkeypatch.setattr(SymbolicShapeInference, "infer_shapes", fails)
    ready = prepared(Path("m.onnx"), folder, "int8-qdq")
    assert ready.is_file()
    assert os.listdir(here) == ["m.onnx"]
    assert Path.cwd() == here

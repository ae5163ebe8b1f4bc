"""A large file that holds nothing is refused without being read."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from assay.errors import BadModel
from assay.models.onnx_file import open_model


def test_a_sparse_file_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "model.onnx").open("wb") as file:
        file.truncate(1 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadModel, match="no protobuf at byte 0"):
        open_model(tmp_path / "model.onnx")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB

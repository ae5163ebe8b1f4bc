"""A checkpoint that a user names becomes a graph, and reports name the checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.sources import NamedModels
from assay.core.run import ModelSource
from local_models import EXAMPLE, rotary_folder, rotary_gguf


def test_a_checkpoint_becomes_a_graph_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    models = NamedModels()
    folder, file = rotary_folder(tmp_path / "rotary"), rotary_gguf(tmp_path / "rotary.gguf")
    graphs = [models.local(source) for source in (folder, file, folder)]
    assert [graph.suffix for graph in graphs] == [".onnx"] * 3
    assert graphs[0] == graphs[2] != graphs[1]
    assert all(isinstance(source, ModelSource) for source in models.found)
    assert [(source.named, source.path) for source in models.found] == [
        (str(path), str(path)) for path in (folder, file)
    ]


def test_other_files_stay_as_they_are() -> None:
    model = EXAMPLE / "models" / "rotary.onnx"
    models = NamedModels()
    assert models.local(model) == model
    assert models.found == ()

"""Folders in which ONNX Runtime leaves its optimized graph until somebody saves it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from assay.backends.onnxruntime.saving import free_folder, give_back
from assay.testing.tiny_models import tiny_model
from assay.worker.scratch_dir import scratch_dir


def test_what_nobody_saved_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = free_folder()
    (own / "model.onnx").touch()
    another = free_folder()
    assert another != own
    give_back(own)
    give_back(another)
    assert [list(folder.iterdir()) for folder in tmp_path.iterdir()] == [[]]
    assert free_folder() == own


def test_an_engine_may_outlive_the_folder_of_its_job() -> None:
    """It is given back when the engine is collected, which may be after the job."""
    with scratch_dir(""):
        folder = free_folder()
    assert not folder.exists()
    give_back(folder)


PROGRAM = """
import sys
from pathlib import Path
from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.onnxruntime.engine import OnnxRuntimeEngine
from assay.core.flow import Flow
from assay.errors import AssayError
backend, model = OnnxRuntime(), Path(sys.argv[1])
engine = backend.lower(model, backend.flows[0])
model.with_name("none.onnx").write_bytes(b"no model")
try:
    OnnxRuntimeEngine(model.with_name("none.onnx"), engine._options, 1, "all", profiled=True)
except AssayError:
    print("refused")
"""


def test_a_process_that_nobody_supervises_leaves_no_temporary_files(tmp_path: Path) -> None:
    """A profile of a model that is refused, and the folder of a graph that nobody saved."""
    here = tmp_path / "here"
    here.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(tiny_model(tmp_path / "tiny.onnx"))]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(here)}, check=False)
    assert done.stdout == "refused\n", done.stderr
    assert [path.name for path in here.iterdir() if not path.name.startswith(".")] == []  # .ses is of the library alone

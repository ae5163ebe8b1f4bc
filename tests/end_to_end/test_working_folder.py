"""What lies in the folder where a check is started is no module of ours, whatever its name; what the user names there is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from onnx import parser, save

NAMES = ("grp", "numpy", "onnx", "onnxruntime", "msgspec", "typer", "torch", "uuid", "statistics")
FACTORY = """
import torch
from helper import WIDTH

def made():
    from later import SIZE
    return torch.nn.Linear(WIDTH, 3), (torch.randn(SIZE, WIDTH),)
"""
ROWS = """
import numpy as np
from helper import WIDTH

def two():
    import subprocess, sys
    import later
    subprocess.run([sys.executable, "tools/tool.py"], check=True)
    for _ in range(later.SIZE):
        yield {"x": np.arange(2 * WIDTH, dtype=np.float32).reshape(2, WIDTH)}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 4] x) => (float[2, 4] y) { y = Relu (x) }'
    save(parser.parse_model(text), tmp_path / "m.onnx")
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("open('imported', 'a').write(__name__)\n")
    return tmp_path


def _check(folder: Path, *said: str) -> str:
    own = {name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-m", "assay", "check", *said, "--only-kind", "verify"]
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (folder / "imported").exists(), (folder / "imported").read_text()
    return done.stdout


@pytest.mark.parametrize("more", [(), ("--fresh-processes",)])
def test_files_named_as_libraries_are_not_imported(folder: Path, more: tuple[str, ...]) -> None:
    assert "1 of 1" in _check(folder, "m.onnx", "--flow", "onnxruntime", *more)


def test_what_a_user_names_is_and_what_lies_beside_it(folder: Path) -> None:
    (folder / "models.py").write_text(FACTORY)
    (folder / "helper.py").write_text("WIDTH = 4\n")
    (folder / "later.py").write_text("SIZE = 2\n")
    (folder / "rows.py").write_text(ROWS)
    (folder / "tools").mkdir()
    (folder / "tools" / "tool.py").write_text("import neighbour\n")
    (folder / "tools" / "neighbour.py").write_text("")
    assert "1 of 1" in _check(folder, "models:made", "--flow", "torch-eager")
    assert "1 of 1" in _check(folder, "m.onnx", "--flow", "onnxruntime", "--inputs", "rows:two")
    assert "1 of 1" in _check(folder, "m.onnx", "--flow", "onnxruntime", "--inputs", "./rows.py:two")

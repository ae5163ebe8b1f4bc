"""Small models written as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import parser

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(text, opset=21, ir=10, name=...) puts a model in ONNX's text syntax into a file."""

    def _write(text: str, *, opset: int = 21, ir: int = 10, name: str = "model", more: str = "") -> Path:
        path = tmp_path / f"{name}.onnx"
        model = parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}{more}]>\n{text}')
        onnx.save(model, path)
        return path

    return _write

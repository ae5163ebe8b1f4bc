"""A tiny real model and its golden, for every test that needs something to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_models import golden_for, linear_model


@pytest.fixture
def linear(tmp_path: Path) -> Path:
    return linear_model(tmp_path / "linear.onnx")


@pytest.fixture
def golden(linear: Path, tmp_path: Path) -> Path:
    golden_for(linear, tmp_path / "golden")
    return tmp_path / "golden"

"""What is compiled ahead of time lies in a folder that goes with its engine."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from assay.backends.torch import engine as torch_engine
from assay.errors import Lowering

OPTIONS = {"compiler": "aot-inductor"}


class _Packaged:
    """In place of an engine: what is asked is where its files lie."""


def _compile(program: Any, package: Path, options: Any) -> None:
    package.touch()


def _refuse(program: Any, package: Path, options: Any) -> None:
    package.touch()
    raise RuntimeError("a kernel was not compiled")


def test_no_folder_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(torch_engine, "_packaged", lambda program, package, options: _Packaged())
    monkeypatch.setattr(torch_engine, "_compile_ahead", _compile)
    engine = torch_engine.lowered(None, OPTIONS)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.rglob("*.pt2")] == ["package.pt2"]
    del engine
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(torch_engine, "_compile_ahead", _refuse)
    with pytest.raises(Lowering):
        torch_engine.lowered(None, OPTIONS)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())

"""A repository of models."""

from __future__ import annotations

from pathlib import Path

import pytest
from named_source_servers import run_git


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`main` has an older net than the working folder."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    (folder / "nets").mkdir(parents=True)
    run_git(folder, "init", "--quiet")
    (folder / "nets" / "net.onnx").write_bytes(b"old, with weights/net.data")
    (folder / "nets" / "weights").mkdir()
    (folder / "nets" / "weights" / "net.data").write_bytes(b"old weights")
    (folder / "nets" / "other.onnx").write_bytes(b"another")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"
    (folder / "nets" / "large.onnx").write_bytes(pointer)
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "first")
    run_git(folder, "branch", "--force", "base")
    (folder / "nets" / "net.onnx").write_bytes(b"new")
    monkeypatch.chdir(folder / "nets")
    return folder

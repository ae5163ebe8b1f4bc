"""A run is gone on with on the models that it began with, or not at all."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.core.case import Case
from assay.core.digest import sha256_bytes
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.errors import UsageError
from assay.pipeline import resume as resuming
from assay.pipeline.resume import resume


def _resumed(model: Model, monkeypatch: pytest.MonkeyPatch, *, done: bool = False) -> str:
    """What is done with the rest, of a run of one job."""
    job = VerifyJob(Case("m", model), Flow("f", "noop"))
    run = SimpleNamespace(id="r1", status="interrupted", jobs=(job,), command="assay check m.onnx --flow f")
    results = [empty_result(job)] if done else []
    store = SimpleNamespace(run=lambda _: run, results=lambda _: results, record=lambda *_: None)
    journal = {"read_journal": lambda _: (None, []), "journal_path": lambda _: Path()}
    monkeypatch.setattr(resuming, "record_run", lambda *_, **__: "its rest")
    services: Any = SimpleNamespace(store=store, jobs=SimpleNamespace(complete=lambda route: route), **journal)
    return str(resume("r1", services))


@pytest.mark.parametrize("name", ["m.onnx", "m.data"])
def test_of_another_model_it_is_not_gone_on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {str(tmp_path / each): sha256_bytes(each.encode()) for each in ("m.onnx", "m.data")}
    for file in files:
        Path(file).write_bytes(Path(file).name.encode())
    model = Model("m", str(tmp_path / "m.onnx"), "the digest of a list", files=files)
    assert _resumed(model, monkeypatch) == "its rest"
    (tmp_path / name).write_bytes(b"other")
    with pytest.raises(
        UsageError, match=f"{name} is not what run r1 began with: put the file back, or begin again with assay check"
    ):
        _resumed(model, monkeypatch)
    assert _resumed(model, monkeypatch, done=True) == "its rest"


def test_what_is_one_file_has_its_digest_and_what_is_none_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"model")
    assert _resumed(Model("m", str(path), sha256_bytes(b"model")), monkeypatch) == "its rest"
    with pytest.raises(UsageError, match="is not what run r1 began with"):
        _resumed(Model("m", str(path), sha256_bytes(b"another")), monkeypatch)
    assert _resumed(Model("m", "factory:model", "1234"), monkeypatch) == "its rest"
    assert _resumed(Model("m", str(tmp_path), "1234"), monkeypatch) == "its rest"
    program = Model("m", str(path), "the digest of a graph", format="torch")
    assert _resumed(program, monkeypatch) == "its rest"


def test_where_a_model_is_gone_it_is_not_gone_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "m.onnx").write_bytes(b"model")
    monkeypatch.chdir(tmp_path)
    model = Model("m", "m.onnx", sha256_bytes(b"model"))
    assert _resumed(model, monkeypatch) == "its rest"
    monkeypatch.chdir(tmp_path / "elsewhere")
    text = "^m.onnx is not in this folder: put it back, or resume in the folder where the run began$"
    with pytest.raises(UsageError, match=text):
        _resumed(model, monkeypatch)
    assert _resumed(model, monkeypatch, done=True) == "its rest"
    gone = tmp_path / "gone.data"
    weights = Model("m", "m.onnx", "the digest of a list", files={str(gone): sha256_bytes(b"")})
    with pytest.raises(UsageError, match=f"^{gone} is not there: put it back, or begin again with assay check m.onnx"):
        _resumed(weights, monkeypatch)

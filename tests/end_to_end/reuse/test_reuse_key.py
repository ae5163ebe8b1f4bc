"""What decides whether a cached artifact is the right one: each change lowers the model again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import onnx
import pytest
from reused_job import FLOW, another_option, lowered, run

from assay.core.flow import Flow
from assay.core.job_base import Job
from assay.worker.engine import artifact_cache


def _another_device(job: Job) -> Job:
    return msgspec.structs.replace(job, flow=msgspec.structs.replace(FLOW, device="gpu"))


def _another_environment(job: Job) -> Job:
    return msgspec.structs.replace(job, flow=msgspec.structs.replace(FLOW, environment="ort130"))


def _another_model(job: Job) -> Job:
    """Other weights under the same name, and nobody has looked since."""

    model = onnx.load(job.case.model.source)
    model.doc_string = "another"
    onnx.save(model, job.case.model.source)
    return job


@pytest.mark.parametrize("change", [another_option, _another_device, _another_environment, _another_model])
def test_whatever_decides_the_artifact_is_looked_at(job: Job, change: Callable[[Job], Job]) -> None:
    run(job)
    assert lowered(run(change(job)))


def test_another_version_lowers_anew(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    run(job)
    folder = Path(job.scratch) / "site-packages"
    (folder / "onnxruntime-99.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder))
    artifact_cache.environment_key.cache_clear()
    try:
        assert lowered(run(job))
    finally:
        artifact_cache.environment_key.cache_clear()


def test_a_build_of_the_same_version_lowers_anew(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who fixes a compiler installs it again under its number."""
    record = Path(job.scratch) / "site-packages" / "compiler-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(record.parent.parent))
    try:
        for text in ("lib.so,sha256=a,1", "lib.so,sha256=b,1"):
            record.write_text(text)
            os.utime(record, ns=(0, ord(text[14])))
            artifact_cache.environment_key.cache_clear()
            assert lowered(run(job))
        assert not lowered(run(job))
    finally:
        artifact_cache.environment_key.cache_clear()


def test_what_the_author_of_a_plug_in_changes_is_lowered_anew(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the file of the backend itself, too: an operator that was added there must not stay refused."""
    package = tmp_path / "plug" / "strangers_engine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "operators.py").write_text("KNOWN = ()")
    (package / "backend.py").write_text(
        "from assay.backends.onnxruntime.backend import OnnxRuntime\n\nclass Strange(OnnxRuntime):\n    name = 'strange'\n"
    )
    info = tmp_path / "plug" / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: strange\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.backends]\nstrange = strangers_engine.backend:Strange\n")
    monkeypatch.syspath_prepend(str(info.parent))
    artifact_cache.environment_key.cache_clear()
    asked = msgspec.structs.replace(job, flow=Flow("strange", "strange"))
    assert [lowered(run(asked)) for _ in range(2)] == [True, False]
    (package / "operators.py").write_text("KNOWN = ('Conv',)")
    artifact_cache._code_of.cache_clear()
    assert lowered(run(asked))
    artifact_cache.environment_key.cache_clear()

"""Two Ray nodes that see nothing of the driver's disk, each with a home of its own: what a model's jobs need, and what they write, goes by
a real S3 server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.commands.composition import open_services
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.stores.object_blobs import ObjectBlobs
from command_line import run_assay
from object_server import bucket, object_server
from ray_cluster import ray_cluster
from small_models import linear_model

__all__ = ["bucket", "object_server"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="a node with a disk of its own needs bubblewrap"),
]
pytest.importorskip(
    "ray", reason="install assay with its extra ray in an environment of its own, and run these slow tests there"
)
WORDS = ("check", "m.onnx", "--flow", "onnxruntime", "--measure-seconds", "0.05", "--workers", "1", "--alerts", "off")


def _results(folder: Path) -> list[Result]:
    with open_services(str(folder / ".assay"), recorded=True) as services:
        return services.store.results("last")


def test_a_model_is_checked_by_nodes_that_share_no_disk(
    tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, home, cache = (tmp_path / name for name in ("project", "home", "cache"))
    for folder in (project, home, cache):
        folder.mkdir()
    linear_model(project / "m.onnx")
    for name, value in (("ASSAY_STORE", bucket), ("HOME", str(home)), ("ASSAY_CACHE", str(cache))):
        monkeypatch.setenv(name, value)
    with ray_cluster(hidden=(project, home, cache)) as nodes:
        away = run_assay(*WORDS, "--on", f"ray://{nodes.address}", cwd=project)
    assert away.returncode == 0, away.stdout + away.stderr
    assert "not all nodes" not in away.stderr
    far = _results(project)
    assert list(ObjectBlobs(bucket).every())
    references = {path.name for path in (project / ".assay" / "oracle").rglob("*") if path.is_file()}
    assert references, "the next run has them"
    shutil.rmtree(project / ".assay")
    here = run_assay(*WORDS, cwd=project)
    assert here.returncode == 0
    own = _results(project)
    assert [(result.job_key, result.outcome) for result in far] == [(result.job_key, result.outcome) for result in own]
    (verified,), (expected,) = ([result for result in results if result.kind == "verify"] for results in (far, own))
    assert verified.comparisons == expected.comparisons
    assert references == {path.name for path in (project / ".assay" / "oracle").rglob("*") if path.is_file()}


def test_a_flow_in_an_environment_of_its_own_has_it_built_on_such_nodes(
    tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, home, cache = (tmp_path / name for name in ("project", "home", "cache"))
    for folder in (project, home, cache):
        folder.mkdir()
    linear_model(project / "m.onnx")
    (project / "assay.toml").write_text('[environments.older]\nrequires = ["onnxruntime==1.30.0"]\n')
    for name, value in (("ASSAY_STORE", bucket), ("HOME", str(home)), ("ASSAY_CACHE", str(cache))):
        monkeypatch.setenv(name, value)
    words = [*WORDS[:3], "onnxruntime@older", *WORDS[4:], "--only-kind", "verify"]
    with ray_cluster(hidden=(project, home, cache)) as nodes:
        away = run_assay(*words, "--on", f"ray://{nodes.address}", cwd=project)
    assert away.returncode == 0, away.stdout + away.stderr
    (result,) = _results(project)
    assert result.outcome is Outcome.OK
    assert result.versions["onnxruntime"] == "1.30.0"


def test_without_a_store_such_nodes_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    linear_model(project / "m.onnx")
    monkeypatch.delenv("ASSAY_STORE", raising=False)
    with ray_cluster(hidden=(project,)) as nodes:
        ended = run_assay(*WORDS, "--on", f"ray://{nodes.address}", cwd=project)
    assert ended.returncode == 4
    assert "put the project on a disk that all nodes share, or name a store in assay.toml" in ended.stderr

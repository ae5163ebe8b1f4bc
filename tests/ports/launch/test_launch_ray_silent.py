"""Agents of a real Ray cluster that say nothing for long: one that stands still is lost, one that is at work is waited for."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psutil
import pytest

from assay.models.onnx_file import open_model
from assay.ports import JobList
from assay.testing.launcher_checks import faulty_job
from ray_cluster import SECOND, RayNodes

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip(
    "ray", reason="install assay with its extra ray in an environment of its own, and run these slow tests there"
)


def test_an_agent_that_stands_still_is_lost_and_nothing_else(
    nodes: RayNodes, linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray takes it for well: its process lives. The other one goes on giving results meanwhile."""
    from assay.launch.ray import ray_pool
    from assay.launch.ray.cluster import RayCluster

    monkeypatch.setattr(ray_pool, "LOOK_S", 3.0)
    jobs = [
        faulty_job(f"case-{number}", "slow", model=open_model(linear), golden=golden, options={"seconds": 0.05})
        for number in range(40)
    ]
    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        while len(cluster.nodes) < 2:
            cluster.let_join(60.0)
        keys: list[str] = []
        when_lost: list[int] = []
        for result in ray_pool.RayPool(cluster).launch(JobList(jobs)):
            keys.append(result.job_key)
            if len(cluster.nodes) == 1:
                when_lost.append(len(keys))
            if len(keys) == 10:
                (agent,) = _agents_of(nodes.started[-1].pid)
                agent.suspend()
    assert when_lost[0] < 30
    assert sorted(keys) == sorted(job.key for job in jobs)


def _agents_of(node: int) -> list[psutil.Process]:
    return [child for child in psutil.Process(node).children(recursive=True) if child.cmdline()[:1] == ["ray::Agent"]]


def test_a_long_job_is_waited_for(nodes: RayNodes, linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is at work says so."""
    from assay.launch.ray import ray_pool
    from assay.launch.ray.cluster import RayCluster

    monkeypatch.setattr(ray_pool, "LOOK_S", 0.5)
    job = faulty_job("long", "slow", model=open_model(linear), golden=golden, options={"seconds": 6.0})
    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        (result,) = ray_pool.RayPool(cluster).launch(JobList([job]))
    assert result.attempts == 1


def test_a_node_that_is_lost_before_it_greets_does_not_lack_assay(
    nodes: RayNodes, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.launch.ray.cluster import RayCluster

    below = psutil.Process(nodes.started[-1].pid).children(recursive=True)
    (starter,) = [process for process in below if process.name() == "raylet"]
    starter.suspend()
    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        assert cluster.nodes
        nodes.kill_second()
        while cluster.coming:
            cluster.let_join(60.0)
        assert len(cluster.nodes) == 1
    printed = capsys.readouterr().err
    assert f"({SECOND}) was lost before it had started" in printed
    assert "install" not in printed

"""A real Ray cluster of two nodes under the conformance check of launchers, and what becomes of a node that is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay.core.case import Case
from assay.core.job import NoopJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.step import Step
from assay.errors import WorkerFailed
from assay.models.onnx_file import open_model
from assay.ports import JobList
from assay.testing.launcher_checks import check_launcher
from ray_cluster import RayNodes, ray_cluster

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip(
    "ray", reason="install assay with its extra ray in an environment of its own, and run these slow tests there"
)


@pytest.fixture
def nodes() -> Iterator[RayNodes]:
    with ray_cluster() as found:
        yield found


def _noops(count: int) -> list[NoopJob]:
    return [NoopJob(Case(f"case-{number}", Model("m", "m.onnx", ""))) for number in range(count)]


def test_every_death_is_blamed_on_its_job_and_stage(nodes: RayNodes, linear: Path, golden: Path) -> None:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.pool import RayPool

    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        check_launcher(lambda: RayPool(cluster), model=open_model(linear), golden=golden)


def test_a_node_is_lost_and_nothing_else(nodes: RayNodes) -> None:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.pool import RayPool

    jobs = _noops(3000)
    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        keys = []
        for result in RayPool(cluster).launch(JobList(jobs)):
            keys.append(result.job_key)
            if len(keys) == 500:
                assert len(cluster.nodes) == 2
                nodes.kill_second()
        assert len(cluster.nodes) == 1
    assert sorted(keys) == sorted(job.key for job in jobs)


def test_a_job_that_takes_nodes_down_is_a_crash_and_all_others_are_done(nodes: RayNodes) -> None:
    import ray

    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.pool import RayPool

    jobs = _noops(200)
    killer = jobs[20].key

    def kill(job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        """As soon as an agent is to have it."""
        if job.key == killer and stage is Stage.START:
            (node,) = [one for one in cluster.nodes if killer in one.owed]
            ray.kill(node.actor)

    with closing(RayCluster(nodes.address, workers=1, watch=kill)) as cluster:
        assert len(cluster.nodes) == 2
        results = list(RayPool(cluster).launch(JobList(jobs)))
        assert cluster.nodes, "agents of nodes that live are started again"
    assert sorted(one.job_key for one in results) == sorted(job.key for job in jobs)
    assert [(one.job_key, one.outcome) for one in results if one.attempts == 2] == [(killer, Outcome.CRASH)]


def test_jobs_that_an_agent_cannot_take_end_the_launch(nodes: RayNodes, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.launch.ray import pool
    from assay.launch.ray.cluster import RayCluster

    monkeypatch.setattr(pool, "pack_jobs", lambda jobs: (b"no job",))
    with (
        closing(RayCluster(nodes.address, workers=1)) as cluster,
        pytest.raises(WorkerFailed, match="its jobs cannot be taken"),
    ):
        list(pool.RayPool(cluster).launch(JobList(_noops(3))))

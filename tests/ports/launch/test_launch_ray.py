"""A real Ray cluster of two nodes under the conformance check of launchers, and what becomes of a node that is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from assay.core.case import Case
from assay.core.job import NoopJob, VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.step import Step
from assay.errors import WorkerFailed
from assay.models.onnx_file import open_model
from assay.ports import JobList
from assay.testing.builders import make_flow
from assay.testing.launcher_checks import check_launcher, faulty_job
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


def test_workers_are_forked_from_what_a_node_has_imported_before(
    nodes: RayNodes, linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.pool import RayPool

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    jobs = [faulty_job(f"{n}", "none", model=open_model(linear), golden=golden) for n in range(40)]
    with closing(RayCluster(nodes.address, workers=1, flows=("faulty",))) as cluster:
        results = RayPool(cluster).launch(JobList(jobs))
        assert next(results).outcome is Outcome.OK
        below = [one for node in nodes.started for one in psutil.Process(node.pid).children(recursive=True)]
        servers = [one for one in below if "--fork-server" in one.cmdline() and one.children()]
        assert servers
        assert not any("OMP_NUM_THREADS" in one.environ() for one in servers), "Ray sets it, and the driver has none"
        assert {one.outcome for one in results} == {Outcome.OK}


def test_a_node_that_cannot_be_used_is_named_and_the_others_are_used(
    nodes: RayNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.launch.ray.cluster import RayCluster

    other = tmp_path / "assay-999.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 999\n")
    nodes.kill_second()
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    nodes.start_second()
    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        assert len(cluster.nodes) == 1
    told = capsys.readouterr().err
    assert "assay: not all nodes of the Ray cluster are used: " in told
    assert "it has assay 999, Python" in told


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


def test_a_job_that_takes_down_the_only_agent_with_a_gpu_is_tried_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its node is well, and so are those without a GPU, which cannot do it."""
    import ray

    smi = tmp_path / "nvidia-smi"
    # Ray sets the variable for what it gives a GPU; both nodes see the same card.
    smi.write_text("#!/bin/sh\ntest -n \"$CUDA_VISIBLE_DEVICES\" && echo 'Card, GPU-1, 1000, 1.0'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    model, costs = Model("m", "nothing.onnx", ""), {"first": 1, "second": 2}
    jobs = [VerifyJob(Case(name, model), make_flow(device="cuda")) for name in ("first", "second", "third")]

    def kill(job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        if stage is Stage.START and costs.get(job.case.name):
            costs[job.case.name] -= 1
            (node,) = [one for one in cluster.nodes if job.key in one.owed]
            ray.kill(node.actor)

    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.pool import RayPool

    with (
        ray_cluster(2, gpus=1) as nodes,
        closing(RayCluster(nodes.address, workers=1, watch=kill)) as cluster,
    ):
        assert sorted(node.gpus for node in cluster.nodes) == [0, 1]
        results = list(RayPool(cluster).launch(JobList(jobs)))
    assert sorted(one.job_key for one in results) == sorted(job.key for job in jobs)
    assert [one.job_key for one in results if "2 machines were lost" in one.detail] == [jobs[1].key]


def test_jobs_that_an_agent_cannot_take_end_the_launch(nodes: RayNodes, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.launch.ray import pool
    from assay.launch.ray.cluster import RayCluster

    monkeypatch.setattr(pool, "pack_jobs", lambda jobs: (b"no job",))
    with (
        closing(RayCluster(nodes.address, workers=1)) as cluster,
        pytest.raises(WorkerFailed, match="its jobs cannot be taken"),
    ):
        list(pool.RayPool(cluster).launch(JobList(_noops(3))))

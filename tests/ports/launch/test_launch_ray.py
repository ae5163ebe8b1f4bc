"""A real Ray cluster of two nodes under the conformance check of launchers, and what becomes of a node that is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from ray_cluster import ADDRESS, SECOND, RayNodes, ray_cluster

if TYPE_CHECKING:
    from assay.launch.ray.cluster import RayCluster

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip(
    "ray", reason="install assay with its extra ray in an environment of its own, and run these slow tests there"
)


def _let_all_join(cluster: RayCluster, number: int = 2) -> None:
    assert cluster.nodes
    while cluster.coming:
        cluster.let_join(60.0)
    assert len(cluster.nodes) == number


@contextmanager
def _taken(nodes: RayNodes, *addresses: str) -> Iterator[list[Any]]:
    """Other work has the CPUs of these nodes: Ray's actors."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    class Other:
        def is_there(self) -> bool:
            return True

    ray.init(address=nodes.address, log_to_driver=False, configure_logging=False, _node_ip_address=ADDRESS)
    try:
        others = []
        for node in ray.nodes():
            if node["NodeManagerAddress"] in addresses:
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                others.append(ray.remote(Other).options(num_cpus=1, scheduling_strategy=there).remote())
        assert ray.get([other.is_there.remote() for other in others]) == [True for _ in addresses]
        yield others
    finally:
        ray.shutdown()


def _noops(count: int) -> list[NoopJob]:
    return [NoopJob(Case(f"case-{number}", Model("m", "m.onnx", ""))) for number in range(count)]


def test_every_death_is_blamed_on_its_job_and_stage(nodes: RayNodes, linear: Path, golden: Path) -> None:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        check_launcher(lambda: RayPool(cluster), model=open_model(linear), golden=golden)


def _fork_servers(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those at work: others end while they are looked at."""
    servers = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if "--fork-server" in process.cmdline() and process.children():
                servers.append(process)
    return servers


def test_workers_are_forked_from_what_a_node_has_imported_before(
    nodes: RayNodes, linear: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    jobs = [faulty_job(f"{n}", "none", model=open_model(linear), golden=golden) for n in range(40)]
    with closing(RayCluster(nodes.address, workers=1, flows=("faulty",))) as cluster:
        results = RayPool(cluster).launch(JobList(jobs))
        assert next(results).outcome is Outcome.OK
        below = [child for node in nodes.started for child in psutil.Process(node.pid).children(recursive=True)]
        servers = _fork_servers(below)
        assert servers
        assert not any("OMP_NUM_THREADS" in server.environ() for server in servers), (
            "Ray sets it, and the driver has none"
        )
        assert {result.outcome for result in results} == {Outcome.OK}


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
        _let_all_join(cluster, 1)
    printed = capsys.readouterr().err
    assert "assay: not all nodes of the Ray cluster are used: " in printed
    assert "it has assay 999, Python" in printed


def test_a_node_is_lost_and_nothing_else(nodes: RayNodes) -> None:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    jobs = _noops(3000)
    with closing(RayCluster(nodes.address, workers=1)) as cluster:
        _let_all_join(cluster)
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
    from assay.launch.ray.ray_pool import RayPool

    jobs = _noops(200)
    killer = jobs[20].key

    def kill(job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        """As soon as an agent is to have it."""
        if job.key == killer and stage is Stage.START:
            (node,) = [candidate for candidate in cluster.nodes if killer in candidate.owed]
            ray.kill(node.actor)

    with closing(RayCluster(nodes.address, workers=1, watch=kill)) as cluster:
        _let_all_join(cluster)
        results = list(RayPool(cluster).launch(JobList(jobs)))
        assert cluster.nodes, "agents of nodes that live are started again"
    assert sorted(result.job_key for result in results) == sorted(job.key for job in jobs)
    assert [(result.job_key, result.outcome) for result in results if result.attempts == 2] == [(killer, Outcome.CRASH)]


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
            (node,) = [candidate for candidate in cluster.nodes if job.key in candidate.owed]
            ray.kill(node.actor)

    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    with (
        ray_cluster(2, gpus=1) as nodes,
        closing(RayCluster(nodes.address, workers=1, watch=kill)) as cluster,
    ):
        assert cluster.nodes
        assert cluster.most_gpus == 1, "what needs a GPU waits for the node that offers one"
        results = list(RayPool(cluster).launch(JobList(jobs)))
    assert sorted(result.job_key for result in results) == sorted(job.key for job in jobs)
    assert [result.job_key for result in results if "2 machines were lost" in result.detail] == [jobs[1].key]


def test_jobs_that_an_agent_cannot_take_end_the_launch(nodes: RayNodes, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.launch.ray import ray_pool as pool
    from assay.launch.ray.cluster import RayCluster

    monkeypatch.setattr(pool, "pack_jobs", lambda jobs: (b"no job",))
    with (
        closing(RayCluster(nodes.address, workers=1)) as cluster,
        pytest.raises(WorkerFailed, match="its jobs cannot be taken"),
    ):
        list(pool.RayPool(cluster).launch(JobList(_noops(3))))


@pytest.mark.parametrize("alone", [False, True], ids=["shared out", "measuring"])
def test_a_node_that_does_not_greet_holds_up_nobody_and_is_named(
    nodes: RayNodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], alone: bool
) -> None:
    from assay.launch.ray import starting
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    monkeypatch.setattr(starting, "NOTE_S", 0.0)
    jobs = _noops(20)
    with _taken(nodes, SECOND), closing(RayCluster(nodes.address, workers=1)) as cluster:
        results = list(RayPool(cluster, alone=alone).launch(JobList(jobs)))
        assert len(cluster.nodes) == 1
        assert cluster.coming == (0,), "it is not given up"
    assert sorted(result.job_key for result in results) == sorted(job.key for job in jobs)
    assert capsys.readouterr().err.count(f"({SECOND}) has not started") == 1


class _UntilAllHaveAnswered:
    """See `ports.JobSource`: more jobs than one node has ahead, for as long as one of two nodes has answered none."""

    def __init__(self, cluster: RayCluster) -> None:
        self.cluster, self.given, self.answered = cluster, 0, 0

    def next_ready(self) -> Job | None:
        is_over = sum(node.job_s is not None for node in self.cluster.nodes) == 2
        if is_over or self.given - self.answered >= 3000:
            return None
        self.given += 1
        return NoopJob(Case(f"case-{self.given}", Model("m", "m.onnx", "")))

    def expected(self) -> list[Job]:
        return []


def test_a_node_joins_the_run_when_other_work_has_left_it(nodes: RayNodes) -> None:
    import ray

    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    with _taken(nodes, SECOND) as (other,), closing(RayCluster(nodes.address, workers=1)) as cluster:
        source = _UntilAllHaveAnswered(cluster)
        for _ in RayPool(cluster).launch(source):
            source.answered += 1
            if source.answered == 20:
                assert len(cluster.nodes) == 1
                ray.kill(other)
        assert source.given == source.answered > 20
        assert not cluster.coming


def test_what_a_killed_driver_left_is_removed_and_what_another_waits_for_is_not(tmp_path: Path) -> None:
    from assay.launch.ray.starting import START_S, TOKEN, touch_token

    dead, other, own = (tmp_path / f"{TOKEN}{name}" for name in ("dead", "other", "own"))
    dead.touch()
    other.touch()
    os.utime(dead, (0, os.stat(other).st_mtime - 3 * START_S))
    os.utime(other, (0, os.stat(other).st_mtime - START_S))
    touch_token(own)
    assert sorted(tmp_path.iterdir()) == [other, own]


def test_where_no_node_greets_it_is_said(nodes: RayNodes, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.launch.ray import starting
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    monkeypatch.setattr(starting, "START_S", 2.0)
    with (
        _taken(nodes, ADDRESS, SECOND),
        closing(RayCluster(nodes.address, workers=1)) as cluster,
        pytest.raises(WorkerFailed, match="no node of the Ray cluster can be used: 2 of its nodes are taken by other"),
    ):
        list(RayPool(cluster).launch(JobList(_noops(3))))
    assert not list(Path.cwd().glob(".assay-ray-*"))

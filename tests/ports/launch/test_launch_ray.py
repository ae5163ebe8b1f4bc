"""A real Ray cluster of two nodes under the conformance check of launchers, and what becomes of a node that is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import NoopJob
from assay.core.model import Model
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
    return [NoopJob(Case(f"case-{number}", Model("m", "m.onnx", "")), Flow("noop", "")) for number in range(count)]


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

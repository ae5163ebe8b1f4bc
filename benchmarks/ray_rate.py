"""Jobs per second on the nodes of a Ray cluster that is there already, beside as many local workers, pool mode: jobs that do nothing, then
jobs that verify a small model on ONNX Runtime."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import NoopJob, VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.result import Result
from assay.launch.pool import Pool
from assay.launch.ray.cluster import RayCluster
from assay.launch.ray.ray_pool import RayPool
from assay.ports import JobList

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from small_models import golden_for, linear_model

NEVER = 1_000_000
"""Jobs after which a worker is replaced."""


def timed(name: str, results: Iterator[Result], count: int) -> None:
    begin = time.perf_counter()
    next(results)
    first = time.perf_counter()
    answered = 1 + sum(1 for _ in results)
    rate = (answered - 1) / (time.perf_counter() - first)
    assert answered == count
    print(
        f"{name}: {rate:,.0f} jobs/s, the first after {first - begin:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="of the head, host:port")
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--verify", type=int, default=1500, help="jobs that verify")
    parser.add_argument("--workers", type=int, default=2, help="local ones")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    nothing = [NoopJob(Case(f"case-{i}", Model("m", "m.onnx", "0" * 64))) for i in range(arguments.jobs)]
    cluster = RayCluster(arguments.address, 1, NEVER, flows=("onnxruntime",))
    while not cluster.nodes or cluster.coming:
        cluster.let_join(60.0)
    # On a disk that all nodes see.
    with TemporaryDirectory(dir=".") as folder:
        model = golden_for(linear_model(Path(folder, "m.onnx").absolute()), Path(folder, "golden"))
        golden, flow = str(Path(folder, "golden").absolute()), Flow("onnxruntime", "onnxruntime")
        verify = [VerifyJob(Case(f"case-{i}", model), flow, reference_dir=golden) for i in range(arguments.verify)]
        for jobs in (nothing, verify):
            for _ in range(arguments.rounds):
                pair(jobs, cluster, arguments.workers)
    cluster.close()


def pair(jobs: Sequence[Job], cluster: RayCluster, workers: int) -> None:
    kind = jobs[0].kind
    timed(f"{kind}, local", Pool(workers, recycle=NEVER).launch(JobList(jobs)), len(jobs))
    timed(f"{kind}, ray", RayPool(cluster).launch(JobList(jobs)), len(jobs))


if __name__ == "__main__":
    main()

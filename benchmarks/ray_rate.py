"""Jobs per second on the nodes of a Ray cluster that is there already, beside as many local workers: no-op jobs, pool mode."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

from assay.core.case import Case
from assay.core.job import NoopJob
from assay.core.model import Model
from assay.core.result import Result
from assay.launch.pool import Pool
from assay.launch.ray.cluster import RayCluster
from assay.launch.ray.ray_pool import RayPool
from assay.ports import JobList

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
    parser.add_argument("--workers", type=int, default=2, help="local ones")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    jobs = [NoopJob(Case(f"case-{i}", Model("m", "m.onnx", "0" * 64))) for i in range(arguments.jobs)]
    cluster = RayCluster(arguments.address, 1, NEVER)
    for _ in range(arguments.rounds):
        timed("local", Pool(arguments.workers, recycle=NEVER).launch(JobList(jobs)), len(jobs))
        timed("ray", RayPool(cluster).launch(JobList(jobs)), len(jobs))
    cluster.close()


if __name__ == "__main__":
    main()

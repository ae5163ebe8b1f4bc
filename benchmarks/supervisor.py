"""Jobs per second through the supervisor: no-op jobs, two workers, pool mode."""

from __future__ import annotations

import argparse
import os
import time

from assay.core.case import Case
from assay.core.job import NoopJob
from assay.core.model import Model
from assay.launch.pool import Pool
from assay.ports import JobList


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    jobs = [NoopJob(Case(f"case-{i}", Model("m", "m.onnx", "0" * 64))) for i in range(arguments.jobs)]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {arguments.workers} workers, {arguments.jobs} jobs")
    for _ in range(arguments.rounds):
        results = Pool(arguments.workers, recycle=1_000_000).launch(JobList(jobs))
        first = next(results)
        begin = time.perf_counter()
        count = sum(1 for _ in results)
        seconds = time.perf_counter() - begin
        assert (count + 1, first.outcome) == (len(jobs), "ok")
        print(f"{count / seconds:10,.0f} jobs/s")


if __name__ == "__main__":
    main()

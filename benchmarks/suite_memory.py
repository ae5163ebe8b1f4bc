"""Peak memory of the driver over a run of 20,000 cases: real results, replayed; the workers' share is left out.

assay run onnx-node --flow onnxruntime --history .assay    # once, to have results
python benchmarks/suite_memory.py --history .assay --copies 11
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Generator, Sequence
from dataclasses import replace as put
from pathlib import Path

from msgspec.structs import replace

from assay.commands.composition import open_services
from assay.core.result import Result
from assay.core.run import Run
from assay.pipeline.check import record_run
from assay.pipeline.job_graph import JobGraph
from assay.ports import JobSource
from assay.stores.encoded_result import pack, unpack
from assay.stores.sql import SqlStore

LIMIT_MB = 300


class Replay:
    """Gives each job the recorded result of its case: packed until then, as it would come from a worker."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._packed = {result.case: pack(result) for result in results}

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            known = unpack(self._packed[job.case.name], Result)
            yield replace(known, job_key=job.key, flow=job.subject)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", default=".assay")
    parser.add_argument("--run", default="last")
    parser.add_argument("--copies", type=int, default=11)
    arguments = parser.parse_args()
    store = SqlStore(str(Path(arguments.history) / "history.db"))
    run, replay = store.run(arguments.run), Replay(store.results(arguments.run))
    store.close()
    known = set(replay._packed)
    flows = [replace(run.jobs[0].flow, name=f"{run.jobs[0].flow.name}-{copy}") for copy in range(arguments.copies)]
    jobs = tuple(replace(job, flow=flow) for flow in flows for job in run.jobs if job.case.name in known)
    big: Run = replace(run, id=f"{run.id}-big", jobs=jobs, status="running")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    with tempfile.TemporaryDirectory() as folder, open_services(folder) as services:
        begin, cpu = time.perf_counter(), time.process_time()
        graph = JobGraph(replay, replay)
        checked = graph.complete(record_run(big, put(services, jobs=graph)))
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"{len(checked.results)} results: {peak:.0f} MB at the peak ({before:.0f} MB before the run), limit {LIMIT_MB} MB"
    )
    print(
        f"{wall:.1f} s wall, {cpu:.1f} s of processor time in the driver, {1e3 * cpu / len(checked.results):.2f} ms per case"
    )


if __name__ == "__main__":
    main()

"""Do limits hold whatever a worker does? `timers`: by how much the time limit of one worker is passed while another misbehaves.
`memory`: by how much a limit of memory is passed by what grows at about 1 GB/s, by the act that makes it grow."""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.outcome import Stage
from assay.launch.pool import Pool
from assay.ports import JobList
from assay.testing.act_checks import MEMORY_BYTES, act_job, identity_golden

BUSY = (
    "closes_all_and_lives", "stops_itself", "floods_log_for_ever", "many_children", "daemon", "hangs_deaf", "fork_that_writes_garbage",
    "garbage", "files_without_end", "child_eats_memory", "shuts_sockets_down", "becomes_another_program",
)  # fmt: skip
GROWING = ("eats_memory", "child_eats_memory", "far_grandchild_eats_memory", "eats_memory_of_no_process")
LIMIT_S = 4.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["timers", "memory", "grow"])
    parser.add_argument("acts", nargs="*")
    arguments = parser.parse_args()
    if arguments.what != "grow":
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what == "timers":
            for act in arguments.acts or BUSY:
                print(f"{act:28} {_late(act, Path(folder)) * 1e3:8.0f} ms late", flush=True)
        elif arguments.what == "grow":
            _grow(arguments.acts[0], Path(folder))
        else:
            for act in arguments.acts or GROWING:
                # In a process of its own: the largest of its descendants is known when they have ended.
                subprocess.run([sys.executable, __file__, "grow", act], check=True, stdout=None)


def _late(act: str, folder: Path) -> float:
    """Seconds past its limit after which a job that hangs was ended, while another worker commits that act again and again."""
    model, golden = _golden(folder / act)
    hangs = act_job("hangs", model, golden, "hangs_deaf")
    hangs_job = msgspec.structs.replace(hangs.job, limits=Limits(timeout_s=LIMIT_S, import_s=60.0))
    others = [act_job(f"{act}-{n}", model, golden, act).job for n in range(6)]
    short = [
        msgspec.structs.replace(other, limits=msgspec.structs.replace(other.limits, timeout_s=LIMIT_S, import_s=60.0))
        for other in others
    ]
    begun: dict[str, float] = {}
    ended: dict[str, float] = {}

    def watch(job: Job, stage: Stage | None, *_: object) -> None:
        if stage is None:
            ended[job.case.name] = time.monotonic()
        elif stage not in (Stage.START, Stage.IMPORT):
            begun.setdefault(job.case.name, time.monotonic())

    for _ in Pool(2, watch=watch).launch(JobList([hangs_job, *short])):
        if "hangs" in ended:
            break
    return ended["hangs"] - begun["hangs"] - LIMIT_S


def _golden(folder: Path) -> tuple[object, Path]:
    folder.mkdir()
    return identity_golden(folder)


def _grow(act: str, folder: Path) -> None:
    model, golden = identity_golden(folder)
    quiet = list(Pool(1).launch(JobList([act_job("quiet", model, golden).job])))
    assert quiet[0].outcome == "ok"
    base = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    (result,) = Pool(1).launch(JobList([act_job("grows", model, golden, act).job]))
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    seen = re.match(r"(\d+) MB resident", result.detail)
    seen_bytes = float(seen[1]) * 1e6 if seen else 0.0
    peak = max(largest if act == "eats_memory" else largest + base, seen_bytes)
    allowed = MEMORY_BYTES * 0.1 + 64e6
    print(
        f"{act:28} {result.outcome}: limit {MEMORY_BYTES / 1e6:.0f} MB, ended at {seen_bytes / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB: "
        f"{(peak - MEMORY_BYTES) / 1e6:.0f} MB over (at most {allowed / 1e6:.0f})",
        flush=True,
    )


if __name__ == "__main__":
    main()

"""kill -9 of a task or of the command of a run on Slurm at random moments: results lost, doubled, and outcomes changed. Slurm is
started on this machine: see tests/slurm_cluster.py for what it needs."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from kill_trials import MOST_S, RUN, Trials, arguments_of, kill_driver, processes_in

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from slurm_cluster import slurm_cluster

ON = ("--on", "slurm", "--shards", "8")
KINDS = ("task", "driver")
TASK = "assay.cli.slurm_task"


def trial(trials: Trials, kind: str, history: str) -> None:
    def kill_task(child: subprocess.Popen[bytes]) -> bool:
        """The first that there is from now on. `harm` counts a run that does not end."""
        ends = time.perf_counter() + MOST_S
        while child.poll() is None and time.perf_counter() < ends:
            for process in processes_in(trials.folder):
                with suppress(psutil.Error):
                    if TASK in process.cmdline():
                        process.kill()
                        return True
            time.sleep(0.02)
        return False

    code = trials.harm(history, kill_driver if kind == "driver" else kill_task, *ON)
    trials.count(history, finish(trials, history) if kind == "driver" else code)


def finish(trials: Trials, history: str) -> int:
    """Its tasks go on; what came of them is merged. Where it had submitted nothing, it is run again."""
    while subprocess.run(["squeue", "--noheader"], capture_output=True, check=True).stdout.strip():
        time.sleep(0.2)
    if trials.status(history) and trials.outcomes(history)[0]:
        return trials.assay("rejudge", "last", history=history)
    files = sorted((trials.folder / history / "slurm").glob("*/*.run"))
    words = ["merge", *map(str, files)] if files else [*trials.run, *ON]
    return trials.assay(*words, history=history)


def main() -> None:
    arguments = arguments_of(__doc__, KINDS)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as name, slurm_cluster():
        trials = Trials(Path(name), random.Random(arguments.seed), RUN)
        trials.measure(*ON)
        for kind in arguments.kinds:
            trials.begin_kind()
            for number in range(arguments.moments):
                trial(trials, kind, f"{kind}{number}")
            bad += trials.end_kind(kind)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

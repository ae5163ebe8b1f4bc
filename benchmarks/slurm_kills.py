"""kill -9 of a task or of the command of a run on Slurm at random moments: results lost, doubled, and outcomes changed. Slurm is
started on this machine: see tests/slurm_cluster.py for what it needs."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import psutil

from assay.stores.sql import SqlStore

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from slurm_cluster import slurm_cluster

RUN = ["run", "operators", "--filter", "relu*", "--flow", "onnxruntime", "--only-kind", "verify"]
ON = ["--on", "slurm", "--shards", "8"]
KINDS = ("task", "driver")
MOST_S = 300.0
TASK = "assay.cli.slurm_task"


class Trials:
    """`whole` are the outcomes of a run that nothing happened to, which takes `whole_s`."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        for history in ("warm", "whole"):
            began = time.perf_counter()
            self.exit_code = self._assay(*RUN, *ON, history=history)
            self.whole_s = time.perf_counter() - began
        self.whole = self._outcomes("whole")[0]
        self.lost = self.doubled = self.changed = self.hit = 0
        print(f"{len(self.whole)} jobs, unharmed {self.whole_s:.1f} s, exit code {self.exit_code}", flush=True)

    def run(self, kind: str, number: int) -> None:
        history = f"{kind}{number}"
        child = subprocess.Popen(
            self._words(*RUN, *ON, history=history),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + self.chance.uniform(0.3, self.whole_s)
        time.sleep(max(0.0, until - time.monotonic()))
        if kind == "driver":
            self.hit += child.poll() is None
            child.kill()
            child.wait()
            code = self._finish(history)
        else:
            self.hit += self._kill_task(child)
            code = child.wait(MOST_S)
        outcomes, counts = self._outcomes(history)
        lost, doubled = len(self.whole.keys() - outcomes.keys()), sum(counts.values()) - len(counts)
        changed = sum(outcomes.get(key, outcome) != outcome for key, outcome in self.whole.items())
        changed += code != self.exit_code
        print(f"{history}: {lost} lost, {doubled} doubled, {changed} changed, exit code {code}", flush=True)
        self.lost, self.doubled, self.changed = self.lost + lost, self.doubled + doubled, self.changed + changed

    def _kill_task(self, child: subprocess.Popen[bytes]) -> bool:
        """The first that there is from now on."""
        while child.poll() is None:
            for process in psutil.process_iter():
                with suppress(psutil.Error):
                    if process.cwd() == str(self.folder) and TASK in process.cmdline():
                        process.kill()
                        return True
            time.sleep(0.02)
        return False

    def _finish(self, history: str) -> int:
        """Its tasks go on; what came of them is merged. Where it had submitted nothing, it is run again."""
        while subprocess.run(["squeue", "--noheader"], capture_output=True, check=True).stdout.strip():
            time.sleep(0.2)
        files = sorted((self.folder / history / "slurm").glob("*/*.run"))
        recorded = (self.folder / history / "history.db").exists() and self._outcomes(history)[0]
        if recorded:
            return self._assay("rejudge", "last", history=history)
        words = ["merge", *map(str, files)] if files else [*RUN, *ON]
        return self._assay(*words, history=history)

    def _outcomes(self, history: str) -> tuple[dict[str, str], Counter[str]]:
        with closing(SqlStore(str(self.folder / history / "history.db"))) as store:
            results = store.results("last") if store.runs(1) else ()
        counts = Counter(result.job_key for result in results)
        return {result.job_key: result.outcome.value for result in results}, counts

    def _words(self, *words: str, history: str) -> list[str]:
        return [sys.executable, "-m", "assay", *words, "--history", history]

    def _assay(self, *words: str, history: str) -> int:
        words_of_all = self._words(*words, history=history)
        return subprocess.run(words_of_all, cwd=self.folder, capture_output=True, timeout=MOST_S).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=30, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as name, slurm_cluster():
        trials = Trials(Path(name), random.Random(arguments.seed))
        for kind in arguments.kinds:
            trials.lost = trials.doubled = trials.changed = trials.hit = 0
            for number in range(arguments.moments):
                trials.run(kind, number)
            print(
                f"{kind}: {arguments.moments} moments, {trials.hit} while it ran; {trials.lost} lost, {trials.doubled} doubled, "
                f"{trials.changed} changed; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            bad += trials.lost + trials.doubled + trials.changed
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

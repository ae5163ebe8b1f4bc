"""kill -9 of a node, the head or the driver of a run on Ray at random moments: results lost, doubled, and outcomes changed. Two nodes of
one CPU each on this machine; needs `pip install 'assay[ray]'`."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psutil

from assay.stores.sql import SqlStore

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from ray_cluster import RayNodes, ray_cluster  # noqa: E402 - it lies with the tests

RUN = ["run", "operators", "--filter", "relu*", "--flow", "onnxruntime", "--only-kind", "verify", "--workers", "1"]
KINDS = ("node", "driver", "head")
RECONNECT = {"RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
"""Ray's programs wait a minute for a head that is gone: each trial would."""
MOST_S = 300.0


class Trials:
    """`whole` are the outcomes of a run that nothing happened to, which takes `whole_s`."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.whole: dict[str, str] = {}
        self.exit_code = self.lost = self.doubled = self.changed = self.hit = 0
        self.whole_s = 0.0

    def measure(self, nodes: RayNodes) -> None:
        for history in ("warm", "whole"):
            began = time.perf_counter()
            self.exit_code = self._assay(*RUN, *_where(nodes), history=history)
            self.whole_s = time.perf_counter() - began
        self.whole = self._outcomes("whole")[0]
        print(f"{len(self.whole)} jobs, unharmed {self.whole_s:.1f} s, exit code {self.exit_code}", flush=True)

    def run(self, kind: str, number: int, nodes: RayNodes) -> int:
        """The exit code of the run that was harmed; -1 where it was the one that was ended."""
        history = f"{kind}{number}"
        with (self.folder / f"{history}.log").open("wb") as log:
            words = self._words(*RUN, *_where(nodes), history=history)
            child = subprocess.Popen(words, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)
            time.sleep(self.chance.uniform(0.3, self.whole_s))
            self.hit += child.poll() is None
            if kind == "driver":
                child.kill()
            else:
                nodes.kill_second() if kind == "node" else nodes.kill_head()
            try:
                code = child.wait(MOST_S)
            except subprocess.TimeoutExpired:
                child.kill()
                code = child.wait()
                print(f"{history}: it did not end in {MOST_S:.0f} s", flush=True)
        return -1 if kind == "driver" else code

    def finish(self, history: str, nodes: RayNodes) -> None:
        """`assay resume`, where there is anything to resume; then all is counted."""
        status = self._status(history)
        if status == "complete":
            code = self._assay("rejudge", "last", history=history)
        elif status:
            code = self._assay("resume", "last", *_where(nodes), history=history)
        else:
            code = self._assay(*RUN, *_where(nodes), history=history)
        outcomes, counts = self._outcomes(history)
        lost, doubled = len(self.whole.keys() - outcomes.keys()), sum(counts.values()) - len(counts)
        changed = sum(outcomes.get(key, result) != result for key, result in self.whole.items()) + (
            code != self.exit_code
        )
        print(f"{history}: {lost} lost, {doubled} doubled, {changed} changed, exit code {code}", flush=True)
        self.lost, self.doubled, self.changed = self.lost + lost, self.doubled + doubled, self.changed + changed

    def _status(self, history: str) -> str:
        if not (self.folder / history / "history.db").exists():
            return ""
        with closing(SqlStore(str(self.folder / history / "history.db"))) as store:
            runs = store.runs(1)
        return runs[0].status if runs else ""

    def _outcomes(self, history: str) -> tuple[dict[str, str], Counter[str]]:
        with closing(SqlStore(str(self.folder / history / "history.db"))) as store:
            results = store.results("last")
        return {result.job_key: result.outcome.value for result in results}, Counter(
            result.job_key for result in results
        )

    def _words(self, *words: str, history: str) -> list[str]:
        return [sys.executable, "-m", "assay", *words, "--history", history]

    def _assay(self, *words: str, history: str) -> int:
        ended = subprocess.run(
            self._words(*words, history=history), cwd=self.folder, capture_output=True, check=False, timeout=MOST_S
        )
        return ended.returncode


def _where(nodes: RayNodes) -> Sequence[str]:
    return "--on", f"ray://{nodes.address}"


def _left(folder: Path) -> list[int]:
    """Of trials, those that are left."""
    return [
        process.pid for process in psutil.process_iter() if _cwd(process) == str(folder) and process.pid != os.getpid()
    ]


def _cwd(process: psutil.Process) -> str:
    try:
        return str(process.cwd())
    except psutil.Error:
        return ""


def _trials_of(kind: str, moments: int, trials: Trials) -> Counter[int]:
    """A head that is lost takes the cluster with it: the run goes on on another one."""
    codes: Counter[int] = Counter()
    if kind == "head":
        for number in range(moments):
            with ray_cluster() as nodes:
                codes[trials.run(kind, number, nodes)] += 1
            with ray_cluster() as nodes:
                trials.finish(f"{kind}{number}", nodes)
        return codes
    with ray_cluster() as nodes:
        for number in range(moments):
            codes[trials.run(kind, number, nodes)] += 1
            if kind == "node":
                nodes.start_second()
            trials.finish(f"{kind}{number}", nodes)
    return codes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=30, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    os.environ.update(RECONNECT)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as name:
        trials = Trials(Path(name), random.Random(arguments.seed))
        with ray_cluster() as nodes:
            trials.measure(nodes)
        for kind in arguments.kinds:
            trials.lost = trials.doubled = trials.changed = trials.hit = 0
            codes = _trials_of(kind, arguments.moments, trials)
            said = f"{trials.lost} lost, {trials.doubled} doubled, {trials.changed} changed"
            print(
                f"{kind}: {arguments.moments} moments, {trials.hit} while it ran; exit codes {dict(codes)}; {said}; "
                f"{len(_left(Path(name)))} processes left, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            bad += trials.lost + trials.doubled + trials.changed
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

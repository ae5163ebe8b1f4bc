"""What ray_kills.py and slurm_kills.py share: a run from which kill -9 takes something at a random moment, and what is counted after it
beside a run that nothing happened to."""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil

from assay.stores.sql import SqlStore

RUN = ("run", "operators", "--filter", "relu*", "--flow", "onnxruntime", "--only-kind", "verify")
MOST_S = 300.0
START = 0.3
"""The moments before the first result, beside those from it on: 0.3 to 1."""


class Trials:
    """`run` are the words of one run of `assay`. `whole` are the outcomes of one that nothing happened to, which takes `whole_s`, and
    `start_s` until its first result is there."""

    def __init__(self, folder: Path, chance: random.Random, run: Sequence[str]) -> None:
        self.folder, self.chance, self.run = folder, chance, run
        self.whole: dict[str, str] = {}
        self.exit_code = 0
        self.start_s = self.whole_s = 0.0
        self.begin_kind()

    def begin_kind(self) -> None:
        """All is counted from here on."""
        self.moments = self.hit = self.lost = self.doubled = self.changed = self.endless = 0
        self.longest_s = 0.0

    def measure(self, *where: str) -> None:
        """The second of two runs: the first makes what both have."""
        for history in ("warm", "whole"):
            began = time.perf_counter()
            with self._begun(*self.run, *where, history=history) as child:
                self.start_s = self._wait_for(history, child, 1, began + MOST_S) - began
                self.exit_code = child.wait(max(0.0, began + MOST_S - time.perf_counter()))
            self.whole_s = time.perf_counter() - began
        self.whole = self.outcomes("whole")[0]
        took = f"unharmed {self.whole_s:.1f} s, the first after {self.start_s:.1f} s"
        print(f"{len(self.whole)} jobs, {took}, exit code {self.exit_code}", flush=True)

    def harm(self, history: str, kill: Callable[[subprocess.Popen[bytes]], bool], *where: str) -> int:
        """The exit code of a run at a random moment of which `kill` is called. That returns whether the run went on until then."""
        began = time.perf_counter()
        with self._begun(*self.run, *where, history=history) as child:
            is_late = self._wait(history, child, self.chance.uniform(-START, 1.0)) >= began + MOST_S
            if is_late:
                child.kill()
            self.hit += kill(child) and not is_late  # it takes a node away in any case, which is started again
            try:
                code = child.wait(MOST_S)
            except subprocess.TimeoutExpired:
                is_late = True
                child.kill()
                code = child.wait()
        if is_late:
            self.endless += 1
            print(f"{history}: it did not end in {MOST_S:.0f} s", flush=True)
        self.longest_s = max(self.longest_s, time.perf_counter() - began)
        return code

    @contextmanager
    def _begun(self, *words: str, history: str) -> Iterator[subprocess.Popen[bytes]]:
        """One that is still there at the end is killed. One that does not end is shown as far as it came."""
        with (self.folder / f"{history}-{words[0]}.log").open("w+b") as log:
            command = self._words(*words, history=history)
            child = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)
            try:
                yield child
            except subprocess.TimeoutExpired:
                log.seek(0)
                print(log.read()[-4000:].decode(errors="replace"), flush=True)
                raise
            finally:
                child.kill()
                child.wait()

    def _wait(self, history: str, child: subprocess.Popen[bytes], share: float) -> float:
        """Until the run has so much of its results, has ended, or is out of time; below zero, for that part of the time that the start
        takes. By the clock alone, on a machine that other work slows down, most moments would come before the first result. Gives the
        time when that is."""
        if share >= 0:
            return self._wait_for(history, child, share * len(self.whole), time.perf_counter() + MOST_S)
        time.sleep((share + START) / START * self.start_s)
        return time.perf_counter()

    def _wait_for(self, history: str, child: subprocess.Popen[bytes], results: float, ends: float) -> float:
        while child.poll() is None and self._recorded(history) < results and time.perf_counter() < ends:
            time.sleep(0.02)
        return time.perf_counter()

    def _recorded(self, history: str) -> int:
        """Straight from the file: nothing is kept open in a history that is being written."""
        path = self.folder / history / "history.db"
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        return 0

    def count(self, history: str, code: int) -> None:
        """What is in the history now, and the exit code of the command that finished it."""
        outcomes, counts = self.outcomes(history)
        lost, doubled = len(self.whole.keys() - outcomes.keys()), sum(counts.values()) - len(counts)
        changed = sum(outcomes.get(key, outcome) != outcome for key, outcome in self.whole.items())
        changed += code != self.exit_code
        print(f"{history}: {lost} lost, {doubled} doubled, {changed} changed, exit code {code}", flush=True)
        self.moments += 1
        self.lost, self.doubled, self.changed = self.lost + lost, self.doubled + doubled, self.changed + changed

    def end_kind(self, kind: str) -> int:
        """How much was lost, doubled or changed, or did not end."""
        print(
            f"{kind}: {self.moments} moments, {self.hit} while it ran; {self.lost} lost, {self.doubled} doubled, {self.changed} changed; "
            f"{self.endless} did not end; the longest {self.longest_s:.0f} s; {len(_left(self.folder))} processes left, "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        return self.lost + self.doubled + self.changed + self.endless

    def status(self, history: str) -> str:
        """Of its run; "" where there is none."""
        if not (self.folder / history / "history.db").exists():
            return ""
        with closing(SqlStore(str(self.folder / history / "history.db"))) as store:
            runs = store.runs(1)
        return runs[0].status if runs else ""

    def outcomes(self, history: str) -> tuple[dict[str, str], Counter[str]]:
        """Of each job, and how often each was recorded."""
        with closing(SqlStore(str(self.folder / history / "history.db"))) as store:
            results = store.results("last") if store.runs(1) else ()
        counts = Counter(result.job_key for result in results)
        return {result.job_key: result.outcome.value for result in results}, counts

    def assay(self, *words: str, history: str) -> int:
        """Its exit code."""
        with self._begun(*words, history=history) as child:
            return child.wait(MOST_S)

    def _words(self, *words: str, history: str) -> list[str]:
        return [sys.executable, "-m", "assay", *words, "--history", history]


def kill_driver(child: subprocess.Popen[bytes]) -> bool:
    """The command itself."""
    runs = child.poll() is None
    child.kill()
    return runs


def arguments_of(about: str | None, kinds: Sequence[str]) -> argparse.Namespace:
    """The command line of either."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--moments", type=int, default=30, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=list(kinds))
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def processes_in(folder: Path) -> list[psutil.Process]:
    """Whose working folder it is."""
    return [process for process in psutil.process_iter() if _cwd(process) == str(folder)]


def _left(folder: Path) -> list[int]:
    return [process.pid for process in processes_in(folder) if process.pid != os.getpid()]


def _cwd(process: psutil.Process) -> str:
    try:
        return str(process.cwd())
    except psutil.Error:
        return ""

"""A large history, made up, and how long `assay serve` takes for each page of it; then many readers beside
writers."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from made_history import FLOWS, Made, fill, run_id, run_of

from assay.stores.sql import SqlStore
from assay.web.address import address

SLOW_MS = 300.0
PAGES = (
    "now",
    "matrix",
    "matrix of a run",
    "filtered matrix",
    "filtered matrix of a run",
    "runs",
    "result",
    "trend",
    "compare",
    "search",
    "badge",
    "json",
)


@contextmanager
def serving(folder: str, workers: int = 1) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "assay", "serve", "--history", folder, "--port", "0"]
    command += ["--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.match(r"(http\S+)/ ", server.stdout.readline())
        assert found, "it did not start"
        try:
            yield found[1], psutil.Process(server.pid)
        finally:
            server.terminate()


def addresses(made: Made, runs: int, chance: random.Random) -> dict[str, Callable[[], str]]:
    """A page of each kind, another one each time."""

    def cell() -> dict[str, str]:
        job = chance.choice(made.jobs)
        return {"case": job.case.name, "flow": job.subject}

    def some_run() -> str:
        return run_id(chance.randrange(runs))

    return {
        "now": lambda: "/",
        "matrix": lambda: address("/matrix", page=chance.randint(1, max(1, len(made.jobs) // len(FLOWS) // 50))),
        "matrix of a run": lambda: address("/matrix", run=some_run()),
        "filtered matrix": lambda: address("/matrix", case=f"op{chance.randrange(40)}-", outcome="mismatch"),
        "filtered matrix of a run": lambda: address(
            "/matrix", run=some_run(), flow=f"{chance.randrange(10)}-f", outcome="mismatch"
        ),
        "runs": lambda: address("/runs", page=chance.randint(1, max(1, min(runs // 50, 20)))),
        "result": lambda: address("/result", **cell(), run=some_run()),
        "trend": lambda: address("/trend", **cell()),
        "compare": lambda: address("/compare", run=run_id(chance.randrange(1, runs))),
        "search": lambda: address("/search", q=f"{chance.randrange(runs):08x}"),
        "badge": lambda: address("/badge.svg", **cell()),
        "json": lambda: address("/api/v1/matrix", run=some_run()),
    }


def get(base: str, path: str) -> tuple[float, int]:
    began = time.monotonic()
    with urllib.request.urlopen(base + path, timeout=300) as answer:
        size = len(answer.read())
    return 1e3 * (time.monotonic() - began), size


def processor_s(server: psutil.Process) -> float:
    """Of the process and those that it started."""
    return sum(sum(process.cpu_times()[:2]) for process in (server, *server.children(recursive=True)))


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def pages(base: str, server: psutil.Process, asked: dict[str, Callable[[], str]], tries: int) -> None:
    print("page | p50 ms | p95 ms | processor ms | kB")
    for name in PAGES:
        before, taken, size = processor_s(server), [], 0
        for _ in range(tries):
            ms, found = get(base, asked[name]())
            taken.append(ms)
            size = max(size, found)
        cpu = 1e3 * (processor_s(server) - before) / len(taken)
        print(f"{name} | {statistics.median(taken):.0f} | {p95(taken):.0f} | {cpu:.0f} | {size / 1e3:.0f}", flush=True)


def write_runs(location: str, cells: int, first: int, seconds: float, rate: float, ready: Any) -> None:
    """A writer of runs of its own, fifty results at a time, so many a second; 0: as many as can be."""
    made, store, number = Made(cells), SqlStore(location), first
    store.open_run(run_of(made, number))
    ready.wait()
    spent, began, written = time.process_time(), time.monotonic(), 0
    while time.monotonic() - began < seconds:
        run, found = run_of(made, number), made.results()
        store.open_run(run)
        for some in (found[start : start + 50] for start in range(0, len(found), 50)):
            store.record(run.id, some)
            written += len(some)
            time.sleep(max(0.0, written / rate - (time.monotonic() - began)) if rate else 0.0)
            if time.monotonic() - began > seconds:
                break
        number += 1
    spent, took = time.process_time() - spent, time.monotonic() - began
    print(
        f"a writer recorded {written / took:.0f} results/s, {1e3 * spent / written:.2f} ms of processor each",
        flush=True,
    )
    store.close()


def first_free(location: str, runs: int) -> int:
    """The number of a run that no crowd has written: of one that is there nothing would be recorded."""
    with closing(SqlStore(location)) as store:
        return max(runs, *(1 + int(run.id.rpartition("-")[2], 16) for run in store.runs(10**9)))


def _printed(by_page: dict[str, list[float]], slow: list[float]) -> list[float]:
    """All of them. `slow`: when those began that took long, after the crowd did."""
    print(", ".join(f"{name} {p95(taken):.0f}" for name, taken in by_page.items() if taken) + ": p95 ms of each page")
    # One thing that holds all pages up shows as a second with many; too little processor as some in most seconds.
    by_second = sorted(Counter(map(int, slow)).items())
    each = ", ".join(f"{count} in second {second}" for second, count in by_second)
    print(f"{len(slow)} pages over {SLOW_MS:.0f} ms: {each or 'none'}")
    return [ms for taken in by_page.values() for ms in taken]


def crowd(
    base: str,
    server: psutil.Process,
    location: str,
    asked: dict[str, Callable[[], str]],
    made: Made,
    runs: int,
    arguments: Any,
) -> None:
    """Readers of all pages, each with a second between two pages, beside writers who record all the time."""
    by_page: dict[str, list[float]] = {name: [] for name in PAGES}
    failed: list[str] = []
    slow: list[float] = []
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(arguments.writers + 1)

    def read(number: int, until: float) -> None:
        chance = random.Random(number)
        time.sleep(chance.random())
        while time.monotonic() < until:
            try:
                name, asked_at = chance.choice(PAGES), time.monotonic()
                by_page[name].append(get(base, asked[name]())[0])
                slow.extend([asked_at] if by_page[name][-1] > SLOW_MS else [])
            except OSError as error:
                failed.append(str(error))
            time.sleep(1.0)

    each = (arguments.crowd, arguments.rate / arguments.writers, ready)
    first = first_free(location, runs)
    writers = [
        spawn.Process(target=write_runs, args=(location, len(made.jobs), first + 1000 * number, *each))
        for number in range(arguments.writers)
    ]
    for writer in writers:
        writer.start()
    ready.wait()
    spent, own, until = processor_s(server), time.process_time(), time.monotonic() + arguments.crowd
    threads = [threading.Thread(target=read, args=(number, until)) for number in range(arguments.readers)]
    for thread in threads:
        thread.start()
    for thread in (*threads, *writers):
        thread.join()
    spent, own = processor_s(server) - spent, time.process_time() - own
    taken = _printed(by_page, [at - until + arguments.crowd for at in slow])
    print(
        f"{arguments.readers} readers, {len(taken)} pages: p50 {statistics.median(taken):.0f} ms, p95 {p95(taken):.0f} ms, "
        f"{len(failed)} errors {failed[:1]}, load {os.getloadavg()[0]:.1f}; {1e3 * spent / len(taken):.1f} ms of processor a page, "
        f"and {1e3 * own / len(taken):.1f} of its reader"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--tries", type=int, default=40)
    parser.add_argument("--seed", type=int, default=3, help="another one asks for pages that were not asked for before")
    parser.add_argument("--crowd", type=float, default=20.0, help="seconds with many readers beside a writer")
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument(
        "--rate", type=float, default=1000.0, help="results a second of all writers together, 0 for no limit"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    parser.add_argument("--history", default="", help="an address of PostgreSQL [SQLite in the folder]")
    parser.add_argument("--folder", default="", help="where the history is made [a temporary folder]")
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = arguments.folder or temporary
        made = Made(arguments.cells)
        location = arguments.history or str(Path(folder) / "history.db")
        store = SqlStore(location)
        began = time.monotonic()
        runs = fill(store, made, arguments.runs)
        store.close()
        size = 0.0 if arguments.history else Path(location).stat().st_size / 1e9
        total = runs * len(made.jobs)
        print(
            f"{total:,} results in {runs} runs, {size:.1f} GB, made in {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        asked = addresses(made, runs, random.Random(arguments.seed))
        with serving(arguments.history or folder, arguments.workers) as (base, server):
            pages(base, server, asked, arguments.tries)
            if arguments.crowd:
                crowd(base, server, location, asked, made, runs, arguments)


if __name__ == "__main__":
    main()

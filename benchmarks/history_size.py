"""A history of many results, made up, and how long the commands over it take: `assay trend`, the run before, a search."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from assay.pipeline.past_runs.trend import trend
from assay.stores.sql import SqlStore
from assay.testing.builders import MACHINE, make_job, make_result, make_run


def fill(store: SqlStore, runs: int, cells: int) -> float:
    """Seconds to record `runs` of `cells` results of verify jobs each, all alike but for their names."""
    began = time.monotonic()
    jobs = tuple(make_job(f"case-{cell}") for cell in range(cells))
    results = [make_result(f"case-{cell}") for cell in range(cells)]
    for number in range(runs):
        run = make_run(f"2026{number:05d}T000000-aaaaaa", jobs[:1], commit=f"{number:040x}")
        store.open_run(run)
        store.record(run.id, [replace(result, seconds=1.0 + number % 7 / 10) for result in results])
    return time.monotonic() - began


def timed(name: str, what: Callable[[], object]) -> None:
    began = time.monotonic()
    what()
    print(f"{name}: {1000 * (time.monotonic() - began):.1f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=730)
    parser.add_argument("--cells", type=int, default=1370)
    parser.add_argument("--history", default="", help="an address of PostgreSQL [a new SQLite file]")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        store = SqlStore(arguments.history or str(Path(folder) / "history.db"))
        seconds = fill(store, arguments.runs, arguments.cells)
        total = arguments.runs * arguments.cells
        print(f"{total} results in {seconds:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)
        for _ in range(3):
            timed(
                "trend of one cell",
                lambda: trend(store, f"case-{arguments.cells // 2}", "onnxruntime", "error", MACHINE),
            )
        store.close()


if __name__ == "__main__":
    main()

"""`assay run operators` on a flow twice in a cache of its own: seconds per case with cold caches, cases per second of the rerun.

python benchmarks/suite_operators.py --flow executorch-xnnpack                          the five operators of the peer's tests
python benchmarks/suite_operators.py --flow tvm-llvm --filter '*-float32-smoke-*'       one case of every operator
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import assay

OPERATORS = ("relu", "sigmoid", "linear", "conv2d", "add")
PEER = tuple(f"{name}-float32-{tier}-*" for name in OPERATORS for tier in ("smoke", "sample"))
"""The float32 tests that the ExecuTorch project's own harness has of these operators."""
COLD_S, RERUN_HZ = 0.4, 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flow", action="append", required=True)
    parser.add_argument("--filter", action="append")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    # As pip leaves an installed package: a checkout may be kept without, and is then compiled in every process.
    compileall.compile_dir(str(Path(assay.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "assay", "run", "operators", "--expectations", folder]
        command += [
            "--history",
            f"{folder}/history",
            "--workers",
            str(arguments.workers),
            "--report",
            f"json={folder}/out.json",
        ]
        for option, values in (("--flow", arguments.flow), ("--filter", arguments.filter or PEER)):
            command += [word for value in values for word in (option, value)]
        for what in ("cold caches", "rerun"):
            result = _run(command, Path(folder))
            print(f"{what}: {result}")
    print(
        f"goals on 2 idle cores: {COLD_S} s per case of executorch-xnnpack with cold caches, {RERUN_HZ:g} cases/s of a rerun"
    )


def _run(command: list[str], folder: Path) -> str:
    load, before, begin = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, env={**os.environ, "ASSAY_CACHE": f"{folder}/cache"}, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 3):
        sys.exit(done.stderr)
    results = list(_results(json.loads((folder / "out.json").read_text())))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    outcomes = ", ".join(
        f"{count} {name}" for name, count in Counter(result["outcome"] for result in results).most_common()
    )
    reused = sum(bool(result["facts"]["reused"]) for result in results)
    count = max(1, len(results))
    return (
        f"{count} cases ({outcomes}), {reused} artifacts reused; {wall:.1f} s wall, {wall / count:.2f} s a case, "
        f"{count / wall:.1f} cases/s, "
        f"{cpu:.1f} s of processor time ({cpu / count:.2f} a case), load {load:.1f}"
    )


def _results(value: Any) -> Any:
    """Every result in a JSON report."""
    if isinstance(value, dict):
        if "stage_times" in value:
            yield value
        for inner in value.values():
            yield from _results(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _results(inner)


if __name__ == "__main__":
    main()

"""The performance gate against identical and truly slower engines, in rounds that are small beside the whole: stopped at any time,
what is recorded is balanced over backends, sizes, neighbours and threads.

Each part is a fresh process of `speed_gate.py`; engines are built once. `python benchmarks/speed_table.py FILE` makes the tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLOWS = ("onnxruntime", "openvino-f32", "tvm-llvm", "iree-llvm-cpu", "torch-inductor")
SMALL = ("--size", "0.1ms", "--size", "2ms")
ALIKE = ("--gates", "12")
NOISY = ("--gates", "4", "--noisy")
SLOWER = (*SMALL, "--gates", "4", "--extra", "0.05", "--extra", "0.02")
SLOWER_LONG = ("--size", "30ms", "--gates", "1", "--extra", "0.05", "--extra", "0.02")
FINE = (*SMALL, "--gates", "3", "--min-slowdown", "0.5", "--extra", "0", "--extra", "0.01")
TWO_THREADS = (*SMALL, "--gates", "1", "--threads", "2")
TWO_THREADS_SLOWER = (*SMALL, "--gates", "1", "--threads", "2", "--extra", "0.05")
ROUNDS = (
    (ALIKE, NOISY, SLOWER, TWO_THREADS),
    (ALIKE, FINE, ALIKE, SLOWER_LONG),
    (ALIKE, NOISY, SLOWER, TWO_THREADS_SLOWER),
    (ALIKE, FINE, ALIKE, NOISY),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path, help="append every gate and its launches")
    parser.add_argument("--minutes", type=float, required=True, help="no part begins later")
    parser.add_argument("--core", type=int, help="for the gates of one thread, and their neighbours")
    parser.add_argument("--artifacts", type=Path, help="folder that keeps the engines for the next time")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as name:
        while True:
            for part in (part for parts in ROUNDS for part in parts):
                if time.monotonic() > end:
                    return
                play(part, arguments.csv, arguments.artifacts or Path(name), arguments.core)


def play(part: tuple[str, ...], path: Path, artifacts: Path, core: int | None) -> None:
    everywhere = os.sched_getaffinity(0)
    if core is not None and "--threads" not in part:
        os.sched_setaffinity(0, {core})
    flows = [word for flow in FLOWS for word in ("--flow", flow)]
    script = Path(__file__).with_name("speed_gate.py")
    command = [sys.executable, str(script), *flows, *part, "--csv", str(path), "--artifacts", str(artifacts)]
    print(time.strftime("%H:%M:%S"), *part, flush=True)
    subprocess.run(command, check=False)
    os.sched_setaffinity(0, everywhere)


if __name__ == "__main__":
    main()

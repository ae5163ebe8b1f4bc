"""Microseconds of the look at the state of a worker's process that follows each job."""

from __future__ import annotations

import argparse
import os
import time

import assay.worker.dispatch  # noqa: F401  as in a worker
from assay.worker.process_state import ProcessState


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--looks", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    state = ProcessState()
    assert state.changed() == ()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for _ in range(arguments.rounds):
        begin = time.process_time()
        for _ in range(arguments.looks):
            state.changed()
        print(f"{(time.process_time() - begin) / arguments.looks * 1e6:8.1f} us")


if __name__ == "__main__":
    main()

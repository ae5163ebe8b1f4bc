"""The child process in which a submission is inspected: `python -m assay_zoo.robot.inspection_main`.

It reads one line of JSON (root, name, author, approved, history, out) from standard input, says what it does as JSON lines on standard
output, writes the whole inspection to `out` in one step, and ends when its standard input does: then the robot that
started it is no more.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from assay_zoo.check import Check


def main() -> int:
    # Not as arguments, which every user of the machine could read: the history may be an address with a password.
    asked = json.loads(sys.stdin.buffer.readline())
    root, out = Path(asked["root"]), Path(asked["out"])
    threading.Thread(target=_end_with_the_robot, daemon=True).start()
    os.nice(5)  # the service answers first

    import msgspec

    from assay.errors import AssayError
    from assay_zoo.inspect import inspect
    from assay_zoo.manifest import replace_file
    from assay_zoo.services import open_tools

    begun: dict[str, float] = {}

    def progress(group: str, checks: Sequence[Check] | None) -> None:
        if checks is None:
            begun[group] = time.perf_counter()
            _say(begins=group)
            return
        outcomes = [str(check.outcome) for check in checks]
        counts = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
        _say(group=group, seconds=time.perf_counter() - begun[group], outcomes=counts)

    try:
        with open_tools(root, asked["history"]) as tools:
            whose = {"author": asked["author"], "approved": asked["approved"]}
            inspection = inspect(asked["name"], root, tools, **whose, progress=progress)
    except AssayError as error:
        _say(failed=str(error))
        return 1
    replace_file(out, msgspec.json.encode(inspection))
    return 0


def _say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def _end_with_the_robot() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())

"""Which shard a task of an array does: its own, and then those that no task has begun. Each is begun by one task alone."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

_ANSWER_S = 20.0
REACH = 2.0
"""Another shard is begun where the time that is left is so many times what the longest one took, ..."""
MARGIN_S = 30.0
"""... and this."""
_LEFT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


class Claims:
    """Of task `number` of the array `array`, of `total` shards whose results are `folder`/N.run. A claim is a file that names its task: a
    task that Slurm starts again has its own ones still."""

    def __init__(self, folder: Path, total: int, array: str, number: int) -> None:
        self._folder, self._total, self._array, self._number = folder, total, array, number

    def shards(self) -> Iterator[int]:
        """Its own, where no other task did it before; then what it had claimed when it was started again, and others, the last ones first,
        since Slurm starts the first ones first. Each is asked for when the one before is done."""
        others = sorted(set(range(1, self._total + 1)) - {self._number}, reverse=True)
        longest = 0.0
        for shard in (self._number, *sorted(others, key=lambda shard: not self._is_own(shard))):
            if self._is_done(shard) or (longest and not self._reaches(longest)) or not self._claim(shard):
                continue
            began = time.monotonic()
            yield shard
            longest = max(longest, time.monotonic() - began)

    def _path(self, shard: int) -> Path:
        return self._folder / f"{shard}.of-{self._array}"

    def _is_done(self, shard: int) -> bool:
        return (self._folder / f"{shard}.run").exists()

    def _is_own(self, shard: int) -> bool:
        try:
            return self._path(shard).read_text() == str(self._number)
        except OSError:
            return False

    def _claim(self, shard: int) -> bool:
        try:
            with self._path(shard).open("x") as claim:
                claim.write(str(self._number))
        except FileExistsError:
            return self._is_own(shard)
        return True

    def _reaches(self, longest: float) -> bool:
        """Slurm ends a task whose time is over, and with it the shard that it is at."""
        return seconds_left(f"{self._array}_{self._number}") > REACH * longest + MARGIN_S


def seconds_left(task: str) -> float:
    """Until Slurm ends `ARRAY_NUMBER`; 0 where it does not say. The number of a job alone may be that of a whole array."""
    command = ["squeue", "--noheader", f"--jobs={task}", "--format=%L"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return 0.0
    return float("inf") if done.stdout.strip() == "UNLIMITED" else _seconds(done.stdout.strip())


def _seconds(text: str) -> float:
    """`1-02:03:04`, `03:04`."""
    if (parts := _LEFT.fullmatch(text)) is None:
        return 0.0
    days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    return ((days * 24.0 + hours) * 60 + minutes) * 60 + seconds

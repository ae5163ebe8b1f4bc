"""How long each case took: of the last run of a command, or in a file that all shards get."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.result import Result
from assay.errors import NotWritable, RunNotFound, UsageError
from assay.pipeline.merge import without_shard
from assay.ports import Store

LOOKED_AT = 50
"""Runs of the history that are looked through for one of the same command."""
WHOLE = (1, 1)


def seconds_of_last_run(command: str, store: Store) -> dict[str, float]:
    """What each case took in the last run of this command that is complete and no shard; empty where there is none. Shards of the run
    at hand change nothing: all of them read the same."""
    command_line = without_shard(command)[0]
    for summary in store.runs(LOOKED_AT):
        if summary.status == "complete" and is_run(summary.command) and _is_whole(summary.command, command_line):
            try:
                if not store.run(summary.id).missing:
                    return seconds_by_case(store.results(summary.id))
            except RunNotFound:
                continue
    return {}


def is_run(command: str) -> bool:
    """Whether it is `assay run`, with whatever options."""
    return command.split()[:2] == ["assay", "run"]


def seconds_by_case(results: Sequence[Result]) -> dict[str, float]:
    """On all flows together."""
    taken: dict[str, float] = {}
    for result in results:
        taken[result.case] = taken.get(result.case, 0.0) + result.seconds
    return taken


def write_durations(path: Path, seconds: Mapping[str, float]) -> None:
    """One case a line, in milliseconds: the file may be kept in a repository. Raises NotWritable."""
    rounded = {name: round(took, 3) for name, took in sorted(seconds.items())}
    try:
        path.write_text(json.dumps(rounded, indent=0) + "\n", encoding="utf-8")
    except OSError as error:
        raise NotWritable(f"{path} cannot be written ({error.strerror}); give another file") from None


def read_durations(path: Path) -> dict[str, float]:
    """Raises UsageError for what is no such file."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); name a file of `assay merge --durations`"
        ) from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or not all(_is_seconds(took) for took in content.values()):
        raise UsageError(f"{path} does not say how long each case took: `assay merge --durations FILE` writes that")
    return {name: float(took) for name, took in content.items()}


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_whole(command: str, command_line: str) -> bool:
    try:
        return without_shard(command) == (command_line, WHOLE)
    except (UsageError, ValueError):
        return False

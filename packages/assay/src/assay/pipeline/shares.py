"""Cases shared out so that each share takes as long as the others, by what the last run took."""

from __future__ import annotations

import heapq
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from assay.core.result import Result
from assay.errors import RunNotFound, UsageError
from assay.pipeline.merge import without_shard
from assay.ports import Store

LOOKED_AT = 50
"""Runs of the history that are looked through for one of the same command."""


def seconds_of_last_run(command: str, store: Store) -> dict[str, float]:
    """What each case took in the last complete run of this command, whatever its shards; empty where there is none."""
    wanted = without_shard(command)[0]
    for summary in store.runs(LOOKED_AT):
        if summary.status == "complete" and is_run(summary.command) and _is(summary.command, wanted):
            try:
                return _seconds(store.results(summary.id))
            except RunNotFound:
                continue
    return {}


def is_run(command: str) -> bool:
    """Whether it is `assay run`, with whatever options."""
    return command.split()[:2] == ["assay", "run"]


def balanced(cases: Collection[str], seconds: Mapping[str, float], total: int) -> dict[str, int]:
    """The share of each case, from 1, by what each took; one that is not known takes as long as the others do on average. The
    longest first, each to the share that has least (LPT; Graham, SIAM J. Appl. Math. 17, 1969)."""
    shares = [(0.0, number) for number in range(1, total + 1)]
    found = {}
    usual = sum(seconds.values()) / len(seconds) if seconds else 1.0
    taken = {name: seconds.get(name, usual) for name in cases}
    for name, took in sorted(taken.items(), key=lambda item: (-item[1], item[0])):
        before, number = heapq.heappop(shares)
        found[name] = number
        heapq.heappush(shares, (before + took, number))
    return found


def write_shares(path: Path, shares: Mapping[str, int]) -> None:
    path.write_text(json.dumps(shares))


def read_shares(path: Path) -> dict[str, int]:
    """Raises UsageError for what is no such file."""
    try:
        found = json.loads(path.read_bytes())
        if isinstance(found, dict) and all(isinstance(one, int) for one in found.values()):
            return found
    except (OSError, ValueError):
        pass
    raise UsageError(f"{path} does not say which share a case is in: it is written by `assay run --on slurm`")


def _is(command: str, wanted: str) -> bool:
    try:
        return without_shard(command)[0] == wanted
    except (UsageError, ValueError):
        return False


def _seconds(results: Sequence[Result]) -> dict[str, float]:
    found: dict[str, float] = {}
    for result in results:
        found[result.case] = found.get(result.case, 0.0) + result.seconds
    return found

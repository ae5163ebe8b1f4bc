"""Which node does what: jobs to whoever has room, and those of a lost node last and by themselves, for one may have taken it down."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from assay.core.job_base import Job
from assay.launch.ray.node import Node

MOST_LOSSES = 2
"""Nodes that one job may cost."""
PAIR = 2
"""Jobs of a comparison in two processes, which need each other."""


class Sharing:
    """Jobs that no node has. `pairs`: two may need each other, and stay together."""

    def __init__(self, *, pairs: bool) -> None:
        self._waiting: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._losses: Counter[str] = Counter()
        self._together = PAIR if pairs else 1

    def __len__(self) -> int:
        return len(self._waiting) + len(self._suspects)

    def add(self, job: Job) -> None:
        self._waiting.append(job)

    def give(self, nodes: Sequence[Node]) -> dict[Node, list[Job]]:
        """What each of these gets now, and owes from then on."""
        parcels: dict[Node, list[Job]] = {}
        open_nodes = [node for node in nodes if not self._tries_suspects(node)]
        while self._waiting and (free := [node for node in open_nodes if node.room > 0]):
            node = max(free, key=lambda one: one.room / one.workers)
            job = self._waiting.popleft()
            node.give([job])
            parcels.setdefault(node, []).append(job)
        for node in nodes:
            if self._suspects and not node.owed:
                jobs = [self._suspects.popleft() for _ in range(min(self._together, len(self._suspects)))]
                node.give(jobs)
                parcels[node] = jobs
        return parcels

    def lost(self, node: Node) -> list[Job]:
        """What it owes is tried again, but for those that have cost as many nodes as they may."""
        owed, node.owed = list(node.owed.values()), {}
        self._losses.update(job.key for job in owed)
        self._suspects.extend(job for job in owed if self._losses[job.key] < MOST_LOSSES)
        return [job for job in owed if self._losses[job.key] >= MOST_LOSSES]

    def _tries_suspects(self, node: Node) -> bool:
        return bool(self._losses) and any(key in self._losses for key in node.owed)

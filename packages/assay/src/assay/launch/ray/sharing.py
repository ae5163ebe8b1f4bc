"""Which node does what: jobs to whoever has room, and those of a lost node last and by themselves, for one may have taken it down."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from itertools import islice

from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.launch.job_queue import WorkerKey, worker_key
from assay.launch.leases import gpus_needed
from assay.launch.ray.ray_node import Node

MOST_LOSSES = 2
"""Nodes that one job may cost."""
MISSING = (Cause.NOT_INSTALLED, Cause.MISSING_LIBRARY, Cause.NO_ENVIRONMENT)
"""What another node may have. A file that was not sent is on none of those that share no disk."""
PAIR = 2
"""Jobs of a comparison in two processes, which need each other."""


class Sharing:
    """Jobs that no node has, by the GPUs and the kind of worker that they need, and the nodes that lack something for that job alone.
    `pairs`: two may need each other, and stay together."""

    def __init__(self, *, pairs: bool) -> None:
        self._waiting: dict[tuple[int, WorkerKey, frozenset[Node]], deque[Job]] = {}
        self._refused: dict[str, frozenset[Node]] = {}
        self._suspects: dict[int, deque[Job]] = {}  # those of pairs in one queue, in their order
        self._losses: Counter[str] = Counter()
        self._together = PAIR if pairs else 1

    def __len__(self) -> int:
        return sum(map(len, (*self._waiting.values(), *self._suspects.values())))

    def left(self, lost: str) -> str:
        """What becomes of the jobs that no node has, where the last that could do them is lost."""
        jobs = "1 job has" if len(self) == 1 else f"{len(self)} jobs have"
        return f"{lost} is lost, and {jobs} no answer: start a node again"

    def add(self, job: Job) -> None:
        refused = self._refused.get(job.key, frozenset())
        self._waiting.setdefault((_gpus_of(job), worker_key(job), refused), deque()).append(job)

    def give(self, nodes: Sequence[Node], most_gpus: int = 0, coming: Sequence[int] = ()) -> dict[Node, list[Job]]:
        """What each of these gets now, and owes from then on. `most_gpus` are those of one node, lost ones with them: what needs a GPU
        waits for a node that has it; what needs more than any has is asked of those with the most, whose backend says so. What is not
        installed on all nodes goes to those that have it, if any: it may be one of those that are still `coming`, with so many GPUs."""
        parcels: dict[Node, list[Job]] = {}
        open_nodes = [node for node in nodes if not self._tries_suspects(node)]
        for (needed, kind, refused), waiting in sorted(self._waiting.items(), key=lambda entry: -entry[0][0]):
            capable = _capable(nodes, needed, most_gpus)
            have = [node for node in capable if kind not in node.lacks and node not in refused]
            asked = have if have or _may_come(coming, needed, most_gpus) else capable
            able = set(asked).intersection(open_nodes)
            while waiting and (free := [node for node in able if node.room > 0]):
                node = max(free, key=lambda free_node: free_node.room / free_node.workers)
                job = waiting.popleft()
                node.give([job])
                parcels.setdefault(node, []).append(job)
        for node in nodes:
            jobs = [] if node.owed else self._next_suspects(node.gpus, most_gpus)
            if jobs:
                node.give(jobs)
                parcels[node] = jobs
        return parcels

    def refused(
        self, node: Node, job: Job, nodes: Sequence[Node], most_gpus: int = 0, coming: Sequence[int] = ()
    ) -> bool:
        """Something is not installed there: for all jobs of that kind, or, where it has done one of them, for this job. Whether another
        node is asked instead, which may have it."""
        kind, needed = worker_key(job), _gpus_of(job)
        if kind not in node.has:
            node.lacks.add(kind)
        refused = self._refused.get(job.key, frozenset()) | {node}
        is_last = not _may_come(coming, needed, most_gpus)
        if is_last and all(
            kind in capable.lacks or capable in refused for capable in _capable(nodes, needed, most_gpus)
        ):
            return False
        if kind in node.has:
            self._refused[job.key] = refused
        del node.owed[job.key]
        self.add(job)
        return True

    def lost(self, node: Node) -> list[Job]:
        """What it owes is tried again, but for those that have cost as many nodes as they may."""
        owed, node.owed = list(node.owed.values()), {}
        self._losses.update(job.key for job in owed)
        for job in owed:
            if self._losses[job.key] < MOST_LOSSES:
                queue = 0 if self._together == PAIR else _gpus_of(job)
                self._suspects.setdefault(queue, deque()).append(job)
        return [job for job in owed if self._losses[job.key] >= MOST_LOSSES]

    def _next_suspects(self, gpus: int, most_gpus: int) -> list[Job]:
        """One, or two that may need each other: these go where the one that needs more GPUs can go."""
        for queue in self._suspects.values():
            jobs = list(islice(queue, self._together))
            if jobs and gpus >= min(max(map(_gpus_of, jobs)), most_gpus):
                for _ in jobs:
                    queue.popleft()
                return jobs
        return []

    def _tries_suspects(self, node: Node) -> bool:
        return bool(self._losses) and any(key in self._losses for key in node.owed)


def is_not_installed(result: Result) -> bool:
    """Whether the node lacks something, for which another one may be asked."""
    return result.outcome is Outcome.UNAVAILABLE and result.cause in MISSING


def for_alone(nodes: Sequence[Node], chosen: Node | None = None, coming: Sequence[int] = ()) -> list[Node]:
    """The one that does all that runs alone: of those with the most GPUs, which can do every job, the first one with the most that is
    installed. The one that was `chosen` before stays, unless another has more GPUs. None where one with more GPUs is still `coming`."""
    most = max((node.gpus for node in nodes), default=0)
    if not nodes or max(coming, default=0) > most:
        return []
    if chosen and chosen in nodes and chosen.gpus == most:
        return [chosen]
    in_order = sorted(nodes, key=lambda node: node.ray_id)  # that in which they greeted is another each time
    return [max(in_order, key=lambda node: (node.gpus, -len(node.lacks)))]


def _may_come(coming: Sequence[int], needed: int, most_gpus: int) -> bool:
    return any(gpus >= min(needed, most_gpus) for gpus in coming)


def _capable(nodes: Sequence[Node], needed: int, most_gpus: int) -> list[Node]:
    return [node for node in nodes if node.gpus >= min(needed, most_gpus)]


def _gpus_of(job: Job) -> int:
    return gpus_needed(job.flow.device) if isinstance(job, FlowJob) else 0

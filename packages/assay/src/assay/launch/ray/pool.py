"""One launch on a cluster: jobs to the nodes that have room, results as they come, and what a lost node owes to the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable

import msgspec
import ray

from assay.core.environment import Interpreter
from assay.core.job import Job
from assay.core.outcome import Stage
from assay.core.result import Result
from assay.core.step import UNKNOWN
from assay.errors import EnvironmentFailed, WorkerFailed
from assay.launch.ray.cluster import RayCluster
from assay.launch.ray.node import Node
from assay.launch.ray.packets import Parcel, pack_jobs, unpack_results
from assay.ports import JobSource


class RayPool:
    """Implements `ports.Launcher`: all nodes at once; `alone` one node, always the same, as long as it lives. What a lost node owes is
    asked of the others, and what it says later is not heard."""

    def __init__(self, cluster: RayCluster, *, alone: bool = False) -> None:
        self._cluster, self._alone = cluster, alone

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        """See `ports.Launcher`. Raises WorkerFailed where no node is left, or one cannot start workers."""
        launch = _Launch(source, self._cluster, self._alone)
        whole = False
        try:
            while launch.goes_on():
                yield from launch.next_results()
            whole = True
        finally:
            if not whole:
                self._cluster.clear()


class _Launch:
    def __init__(self, source: JobSource, cluster: RayCluster, alone: bool) -> None:
        self._source, self._cluster, self._alone = source, cluster, alone
        self._waiting: deque[Job] = deque()
        self._done = self._total = 0

    def goes_on(self) -> bool:
        """Takes what is ready, and gives it to whoever has room. Whether anything is waited for."""
        while (job := self._source.next_ready()) is not None:
            self._waiting.append(job)
            self._total += 1
        if not self._total:
            return False
        nodes = self._cluster.nodes[:1] if self._alone else self._cluster.nodes
        parcels: dict[Node, list[Job]] = {}
        while self._waiting and (free := [node for node in nodes if node.room > 0]):
            node = max(free, key=lambda one: one.room / one.workers)
            job = self._waiting.popleft()
            node.give([job])
            parcels.setdefault(node, []).append(job)
        for node, jobs in parcels.items():
            self._send(node, jobs)
        return bool(self._waiting) or any(node.owed for node in self._cluster.nodes)

    def _send(self, node: Node, jobs: list[Job]) -> None:
        interpreters: dict[str, Interpreter] = {}
        failed: dict[str, str] = {}
        for name in {job.flow.environment for job in jobs} - {""}:
            try:
                interpreters[name] = self._cluster.interpreter(name)
            except EnvironmentFailed as error:
                failed[name] = str(error)
        for job in jobs:
            self._cluster.watch(job, Stage.START, self._done, self._total, UNKNOWN)
        node.actor.add.remote(msgspec.msgpack.encode(Parcel(pack_jobs(jobs), self._alone, interpreters, failed)))

    def next_results(self) -> Iterable[Result]:
        """Of the first node that has any."""
        streams = {node.stream: node for node in self._cluster.nodes if node.owed}
        ready, _ = ray.wait(list(streams), num_returns=1, fetch_local=False)
        for stream in ready:
            yield from self._of(streams[stream])

    def _of(self, node: Node) -> Iterable[Result]:
        try:
            results = unpack_results(ray.get(next(node.stream)))
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise WorkerFailed(f"the node {node.name}: {cause or error}") from None
        except (ray.exceptions.RayError, StopIteration):
            self._lost(node)
            return
        for result in results:
            job = node.owed.get(result.job_key)
            if job is not None and node.answer(result.job_key):
                self._done += 1
                self._cluster.watch(job, None, self._done, self._total, UNKNOWN)
                yield result

    def _lost(self, node: Node) -> None:
        """Whatever it owes goes first to the others."""
        self._cluster.drop(node)
        self._waiting.extendleft(reversed(list(node.owed.values())))
        if not self._cluster.nodes:
            raise WorkerFailed(
                f"the last node of the Ray cluster ({node.name}) is lost, and {len(self._waiting)} jobs have no answer: `assay resume` "
                "goes on with the run when the cluster is there again"
            )

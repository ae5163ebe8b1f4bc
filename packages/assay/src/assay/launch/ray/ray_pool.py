"""One launch on a cluster: jobs to the nodes that have room, results as they come, and what a lost node owes to the others."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from typing import Any

import msgspec
import ray

from assay.core.environment import Interpreter
from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.step import UNKNOWN
from assay.errors import EnvironmentFailed, WorkerFailed
from assay.launch.failed_result import lost_nodes
from assay.launch.job_queue import worker_key
from assay.launch.ray.cluster import RayCluster
from assay.launch.ray.messages import Parcel, pack_jobs, unpack_batch, unpack_results
from assay.launch.ray.ray_node import Node
from assay.launch.ray.sharing import MOST_LOSSES, Sharing, is_not_installed
from assay.launch.ray.silent_nodes import SilentNodes
from assay.ports import JobSource

LOOK_S = 60.0
"""A node that owes answers and says nothing for so long is asked whether it is at work."""
FETCH_S = 300.0
"""For results that a node has given, and that Ray brings here."""
MOST_RESTARTS = 3
"""Of the lost agents of a launch, when no other can do what is left."""


class RayPool:
    """Implements `ports.Launcher`: all nodes at once; `alone` one node, always the same, as long as it lives. What a lost node owes is
    asked of the others, last and one by one, and what it says later is not heard. A job that costs a second node is a crash."""

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
        self._sharing, self._silent = Sharing(pairs=alone), SilentNodes(LOOK_S)
        self._done = self._total = 0
        self._lost_name, self._restarts = "", 0

    def goes_on(self) -> bool:
        """Takes what is ready, and gives it to whoever has room. Whether anything is waited for."""
        while (job := self._source.next_ready()) is not None:
            self._sharing.add(job)
            self._total += 1
        if not self._total:
            return False
        cluster = self._cluster
        cluster.let_join()
        nodes = cluster.for_measuring() if self._alone else cluster.nodes
        for node, jobs in self._sharing.give(nodes, cluster.most_gpus, cluster.coming).items():
            self._send(node, jobs)
        is_under_way = any(node.owed for node in cluster.nodes)
        if not self._sharing or is_under_way:
            return is_under_way
        if cluster.coming:
            cluster.let_join(LOOK_S)
        else:
            self._start_again(
                "the last node with the GPUs that they need" if nodes else "the last node of the Ray cluster"
            )
        return True

    def _start_again(self, lost: str) -> None:
        """A job may have taken down the agents of nodes that are well themselves."""
        left = self._sharing.left(f"{lost} ({self._lost_name})" if self._lost_name else lost)
        if self._restarts == MOST_RESTARTS:
            raise WorkerFailed(left)
        self._restarts += 1
        try:
            self._cluster.start_again()
        except (WorkerFailed, ray.exceptions.RayError) as error:
            raise WorkerFailed(f"{left} ({error})") from None

    def _send(self, node: Node, jobs: list[Job]) -> None:
        interpreters: dict[str, Interpreter] = {}
        failed: dict[str, str] = {}
        for name in {job.flow.environment for job in jobs if isinstance(job, FlowJob)} - {""}:
            try:
                interpreters[name] = self._cluster.interpreter(name)
            except EnvironmentFailed as error:
                failed[name] = str(error)
        for job in jobs:
            self._cluster.watch(job, Stage.START, self._done, self._total, UNKNOWN)
        parcel = Parcel(() if node.base else pack_jobs(jobs), self._alone, interpreters, failed)
        if node.base:
            parcel = self._cluster.far.parcel(jobs, node.base, parcel)
        node.sent.append(node.actor.add.remote(msgspec.msgpack.encode(parcel)))

    def next_results(self) -> Iterable[Result]:
        """Of the first node that has any; none where no node says anything for long, or none has anything to do yet. What a node owes that
        stands still is asked of the others."""
        busy = self._silent.longest_first([node for node in self._cluster.nodes if node.owed])
        if not busy:
            return
        streams = {node.stream: node for node in busy}
        sent = {call: node for node in busy for call in node.sent}
        asked = self._silent.calls
        heard = [*asked, *streams, *sent, *self._cluster.greetings]
        ready, _ = ray.wait(heard, num_returns=1, timeout=self._silent.due_s(), fetch_local=False)
        for awaited in ready:
            if awaited in sent:
                yield from self._has_come(sent[awaited], awaited)
            elif awaited in streams:
                yield from self._of(streams[awaited])
            elif awaited in asked:
                yield from self._all_lost(self._silent.answer(awaited, _is_at_work(awaited)))
        yield from self._all_lost(node for node in self._silent.look() if not self._has_said(node))

    def _has_said(self, node: Node) -> bool:
        """Something that only was not heard yet, for the driver itself stood still."""
        return bool(ray.wait([node.stream], timeout=0, fetch_local=False)[0])

    def _has_come(self, node: Node, call: Any) -> Iterable[Result]:
        """The jobs are there, or cannot be."""
        node.sent.remove(call)
        try:
            ray.get(call)
        except ray.exceptions.RayTaskError as error:
            raise WorkerFailed(f"the node {node.name}: {error.cause or error}") from None
        except ray.exceptions.RayError:
            yield from self._lost(node)

    def _of(self, node: Node) -> Iterable[Result]:
        try:
            batch = unpack_batch(ray.get(next(node.stream), timeout=FETCH_S))
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise WorkerFailed(f"the node {node.name}: {cause or error}") from None
        except (ray.exceptions.RayError, StopIteration):
            yield from self._lost(node)
            return
        self._silent.heard(node)
        for result in self._cluster.far.results(batch, node.base) if node.base else unpack_results(batch):
            job = node.owed.get(result.job_key)
            if job is not None and is_not_installed(result) and self._is_refused(node, job, result):
                continue
            own_s = result.seconds if result.seconds or result.outcome is Outcome.OK else None
            if job is not None and node.answer(result.job_key, own_s):
                if result.outcome is not Outcome.UNAVAILABLE:
                    node.has.add(worker_key(job))
                self._done += 1
                self._cluster.watch(job, None, self._done, self._total, UNKNOWN)
                yield result

    def _is_refused(self, node: Node, job: Job, result: Result) -> bool:
        """Whether another node is to do it. Who measures has one node, and stays on it."""
        cluster = self._cluster
        if self._alone or not self._sharing.refused(node, job, cluster.nodes, cluster.most_gpus, cluster.coming):
            return False
        if node.is_news(result.detail):
            jobs = "some jobs" if worker_key(job) in node.has else "jobs"
            what = f"{node.name} cannot do {jobs} of {job.subject} ({result.detail})"
            print(
                f"assay: the node {what}: other nodes do them; install there what is missing",
                file=sys.stderr,
                flush=True,
            )
        return True

    def _all_lost(self, nodes: Iterable[Node]) -> Iterable[Result]:
        """Those of them that were not lost before."""
        for node in nodes:
            if node in self._cluster.nodes:
                yield from self._lost(node)

    def _lost(self, node: Node) -> Iterable[Result]:
        """The results of jobs that have cost nodes enough."""
        self._cluster.drop(node)
        self._lost_name = node.name
        for job in self._sharing.lost(node):
            self._done += 1
            self._cluster.watch(job, None, self._done, self._total, UNKNOWN)
            yield lost_nodes(job, MOST_LOSSES)


def _is_at_work(call: Any) -> bool | None:
    """What the agent said; None where it is gone."""
    try:
        return bool(ray.get(call))
    except ray.exceptions.RayError:
        return None

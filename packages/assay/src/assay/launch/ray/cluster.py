"""The cluster as `--on ray` names it: an agent on each node, which is a supervisor as at home."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

import ray

from assay.errors import UsageError
from assay.launch.pool import InterpreterOf, own_interpreter
from assay.launch.ray.node import Node
from assay.launch.ray.packets import THREADS, Settings
from assay.launch.ray.starting import StartingAgents
from assay.launch.watch import Watch, unwatched

END_S = 10.0


class RayCluster:
    """`address` is the head's, host:port, "" for what runs on this machine or $RAY_ADDRESS names. `workers` are those of each node (0: as
    many as it has CPUs); what `flows` need is imported before a job of them comes. Raises UsageError, WorkerFailed."""

    def __init__(
        self,
        address: str = "",
        workers: int = 0,
        recycle: int = 100,
        interpreter: InterpreterOf = own_interpreter,
        watch: Watch = unwatched,
        flows: Sequence[str] = (),
    ) -> None:
        self._address = address
        self._settings = Settings(workers, recycle, flows=tuple(flows), threads=os.environ.get(THREADS, ""))
        self.interpreter, self.watch = interpreter, watch
        self._nodes: list[Node] | None = None
        self._starting: StartingAgents | None = None
        self._own_connection = False
        self.most_gpus = 0  # of one node, of all that were ever there

    @property
    def nodes(self) -> list[Node]:
        """Those that live; agents are started where there are none."""
        if self._nodes is None:
            self.begin()
            self._nodes = self._started()
        return self._nodes

    def begin(self) -> None:
        """Agents start on all nodes, while the driver goes on to find out what they are to do."""
        if self._nodes is None and self._starting is None:
            self._connect()
            self._starting = StartingAgents(self._settings)

    def start_again(self) -> None:
        """Agents on the nodes that live and have none. Raises WorkerFailed where there is no such node."""
        self._starting = StartingAgents(self._settings, {node.ray_id for node in self.nodes})
        self._nodes = [*self.nodes, *self._started()]

    def _started(self) -> list[Node]:
        starting, self._starting = self._starting, None
        nodes = starting.nodes() if starting else []
        self.most_gpus = max([self.most_gpus, *(node.gpus for node in nodes)])
        return nodes

    def drop(self, node: Node) -> None:
        """It is lost, or may be: nothing of it is waited for any more."""
        self.nodes.remove(node)
        with contextlib.suppress(ray.exceptions.RayError):
            ray.kill(node.actor)

    def clear(self) -> None:
        """Jobs that nobody waits for are not done: all agents end, with their workers."""
        starting, self._starting = self._starting, None
        if starting:
            starting.give_up()
        nodes, self._nodes = self._nodes or [], None
        ends = [node.actor.end.remote() for node in nodes]
        with contextlib.suppress(ray.exceptions.RayError):
            ray.wait(ends, num_returns=len(ends), timeout=END_S) if ends else None
        for node in nodes:
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(node.actor)

    def close(self) -> None:
        """As `clear`, and nothing is known of the cluster any more."""
        self.clear()
        if self._own_connection:
            ray.shutdown()

    def _connect(self) -> None:
        if ray.is_initialized():
            return
        address = self._address or os.environ.get("RAY_ADDRESS", "auto")
        host = address.rpartition(":")[0]
        # Ray takes the machine's own address, where a cluster of a loopback address does not look for it.
        own = {"_node_ip_address": host} if host.startswith("127.") else {}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False, **own)
        except (ConnectionError, ValueError, RuntimeError, TimeoutError, ray.exceptions.RayError) as error:
            where = f"at {self._address}" if self._address else "here"
            reason = " ".join(str(error).split())[:200]
            raise UsageError(
                f"no Ray cluster {where} can be used ({reason}): run `ray start` on this machine, with the address of the head, and give "
                "--on ray://HOST:PORT as `ray start` prints it"
            ) from None
        self._own_connection = True

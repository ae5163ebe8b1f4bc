"""The cluster as `--on ray` names it: an agent on each node, which is a supervisor as at home."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

import msgspec
import ray

from assay.errors import UsageError
from assay.launch.pool import InterpreterOf, own_interpreter
from assay.launch.ray.far_nodes import FarNodes
from assay.launch.ray.messages import THREADS, Settings
from assay.launch.ray.ray_node import Node
from assay.launch.ray.sharing import for_alone
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
        self._far: FarNodes | None = None
        self._files: Sequence[str] = ()
        self.interpreter, self.watch = interpreter, watch
        self._nodes: list[Node] | None = None
        self._starting: StartingAgents | None = None
        self._own_connection = False
        self._most_gpus = 0  # of one node, of all that were ever there
        self._measures: Node | None = None

    @property
    def nodes(self) -> list[Node]:
        """Those that live and have greeted; agents are started where there are none, and the first that greets is waited for."""
        if self._nodes is None:
            first = self._begun().first()
            self._nodes = []
            self._join(first)
        return self._nodes

    def share_by(self, store: str, files: Sequence[str] = ()) -> None:
        """The address of the store by which files go to nodes that do not see the working folder, and those that go to each of them:
        before agents start."""
        self._files = files
        self._settings = msgspec.structs.replace(self._settings, store=store)

    @property
    def far(self) -> FarNodes:
        """For nodes that do not see the working folder. Raises StoreError."""
        if self._far is None:
            self._far = FarNodes(self._settings.store, self._files)
        return self._far

    @property
    def coming(self) -> tuple[int, ...]:
        """How many GPUs each node offers whose agent has not greeted yet."""
        return self._starting.gpus if self._starting else ()

    @property
    def greetings(self) -> list[Any]:
        """What Ray is to wait for, of agents that have not greeted."""
        return self._starting.greetings if self._starting else []

    @property
    def most_gpus(self) -> int:
        """Of one node, of all that were ever there or may come."""
        return max((self._most_gpus, *self.coming))

    def begin(self) -> None:
        """Agents start on all nodes, while the driver goes on to find out what they are to do."""
        self._begun()

    def let_join(self, patience_s: float = 0.0) -> None:
        """Those that have greeted since are nodes from now on; the next one is waited for so long."""
        nodes = self.nodes
        self._join(self._begun().ready(patience_s, quiet=not nodes))

    def start_again(self) -> None:
        """Agents on the nodes that live and have none. Raises WorkerFailed where there is no such node."""
        starting = self._begun()
        starting.start(node.ray_id for node in self.nodes)
        self._join(starting.first())

    def for_measuring(self) -> list[Node]:
        """The one node that does all that runs alone; none where that one is still to come."""
        nodes = for_alone(self.nodes, self._measures, self.coming)
        self._measures = nodes[0] if nodes else None
        return nodes

    def _begun(self) -> StartingAgents:
        if self._starting is None:
            self._connect()
            self._starting = StartingAgents(self._settings)
            self._starting.start()
        return self._starting

    def _join(self, nodes: Sequence[Node]) -> None:
        self.nodes.extend(nodes)
        self._most_gpus = max([self._most_gpus, *(node.gpus for node in nodes)])

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

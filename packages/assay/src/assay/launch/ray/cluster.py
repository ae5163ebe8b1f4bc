"""The cluster as `--on ray` names it: an agent on each node, which is a supervisor as at home."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import msgspec
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from assay.errors import UsageError, WorkerFailed
from assay.launch.pool import InterpreterOf, own_interpreter
from assay.launch.ray.agent import Agent, versions
from assay.launch.ray.node import Node
from assay.launch.ray.packets import Greeting, Settings
from assay.launch.watch import Watch, unwatched

START_S = 300.0
"""For the agents: a node that other work has taken is not waited for longer."""
END_S = 10.0


class RayCluster:
    """`address` is the head's, host:port, "" for what runs on this machine or $RAY_ADDRESS names. `workers` are those of each node (0: as
    many as it has CPUs). Raises UsageError, WorkerFailed."""

    def __init__(
        self,
        address: str = "",
        workers: int = 0,
        recycle: int = 100,
        interpreter: InterpreterOf = own_interpreter,
        watch: Watch = unwatched,
    ) -> None:
        self._address, self._settings = address, (workers, recycle)
        self.interpreter, self.watch = interpreter, watch
        self._nodes: list[Node] | None = None
        self._own_connection = False
        self.most_gpus = 0  # of one node, of all that were ever there

    @property
    def nodes(self) -> list[Node]:
        """Those that live; agents are started where there are none."""
        if self._nodes is None:
            self._connect()
            self._nodes = self._start_agents()
        return self._nodes

    def start_again(self) -> None:
        """Agents on the nodes that live and have none. Raises WorkerFailed where there is no such node."""
        self._nodes = [*self.nodes, *self._start_agents({node.ray_id for node in self.nodes})]

    def drop(self, node: Node) -> None:
        """It is lost, or may be: nothing of it is waited for any more."""
        self.nodes.remove(node)
        with contextlib.suppress(ray.exceptions.RayError):
            ray.kill(node.actor)

    def clear(self) -> None:
        """Jobs that nobody waits for are not done: all agents end, with their workers."""
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

    def _start_agents(self, have_one: Container[str] = ()) -> list[Node]:
        folder, token = Path.cwd(), f".assay-ray-{uuid.uuid4().hex}"
        settings = msgspec.msgpack.encode(Settings(*self._settings, str(folder), token))
        (folder / token).touch()
        try:
            bare = [one for one in ray.nodes() if one["Alive"] and one["NodeID"] not in have_one]
            asked = [(self._start(one, settings), one["NodeID"]) for one in bare if one["Resources"].get("CPU", 0)]
            return self._greeted(asked)
        finally:
            (folder / token).unlink(missing_ok=True)

    def _start(self, found: dict[str, Any], settings: bytes) -> Any:
        """An actor that has all that the node offers: nobody else measures or loads it meanwhile."""
        cpus, number = found["Resources"]["CPU"], found["Resources"].get("GPU", 0)
        return (
            ray.remote(Agent)
            .options(
                num_cpus=cpus,
                num_gpus=number,
                max_restarts=0,
                max_concurrency=8,
                scheduling_strategy=NodeAffinitySchedulingStrategy(found["NodeID"], soft=False),
            )
            .remote(settings, int(cpus), versions())
        )

    def _greeted(self, actors: Sequence[tuple[Any, str]]) -> list[Node]:
        """`actors` with the names of their nodes at Ray."""
        asked = {actor.greet.remote(): (actor, ray_id) for actor, ray_id in actors}
        ready, late = ray.wait(list(asked), num_returns=len(asked), timeout=START_S) if asked else ([], [])
        nodes, problems = [], [f"{len(late)} of its nodes are taken by other work" for _ in late[:1]]
        for one in late:
            ray.kill(asked[one][0])
        for one in ready:
            actor, ray_id = asked[one]
            try:
                said = msgspec.msgpack.decode(ray.get(one), type=Greeting)
            except ray.exceptions.RayError as error:
                problems.append(f"a node cannot run assay ({_reason(error)}): install it there")
                continue
            if said.problem:
                problems.append(f"{said.node}: {said.problem}")
                ray.kill(actor)
                continue
            stream = actor.results.options(num_returns="streaming").remote()
            nodes.append(Node(said.node, actor, stream, said.workers, said.gpus, ray_id))
        self.most_gpus = max([self.most_gpus, *(node.gpus for node in nodes)])
        if not nodes:
            raise WorkerFailed(
                f"no node of the Ray cluster can be used: {'; '.join(problems) or 'it has none with a CPU'}"
            )
        return nodes


def _reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1][:200]

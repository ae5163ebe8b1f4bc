"""Agents that start on the nodes of a cluster. Who has asked for them has something else to do meanwhile."""

from __future__ import annotations

import contextlib
import sys
import uuid
from collections.abc import Container
from pathlib import Path
from typing import Any

import msgspec
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from assay.errors import WorkerFailed
from assay.launch.ray.agent import Agent, versions
from assay.launch.ray.node import Node
from assay.launch.ray.packets import Greeting, Settings

START_S = 300.0
"""For the agents: a node that other work has taken is not waited for longer."""
OTHERS_S = 60.0
"""For the rest, where some are ready: two commands that have a part of the nodes each would wait for one another."""
SAY_S = 10.0
"""After so long it is said that they are waited for."""


class StartingAgents:
    """One on each node that lives and has none. `settings` are without the folder, which is the present one. Raises OSError where nobody
    may write there."""

    def __init__(self, settings: Settings, have_one: Container[str] = ()) -> None:
        folder, name = Path.cwd(), f".assay-ray-{uuid.uuid4().hex}"
        self._token = folder / name
        self._token.touch()
        said = msgspec.msgpack.encode(msgspec.structs.replace(settings, folder=str(folder), token=name))
        bare = [one for one in ray.nodes() if one["Alive"] and one["NodeID"] not in have_one]
        actors = [(_start(one, said), one["NodeID"]) for one in bare if one["Resources"].get("CPU", 0)]
        self._asked = {actor.greet.remote(): (actor, ray_id) for actor, ray_id in actors}

    def nodes(self) -> list[Node]:
        """Those whose agents have greeted; all are waited for. Raises WorkerFailed where there are none."""
        try:
            return self._nodes()
        finally:
            self._token.unlink(missing_ok=True)

    def give_up(self) -> None:
        """Nobody waits for them any more."""
        self._token.unlink(missing_ok=True)
        for actor, _ in self._asked.values():
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(actor)

    def _nodes(self) -> list[Node]:
        asked = self._asked
        ready, late = _greeted(list(asked))
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
        if not nodes:
            raise WorkerFailed(
                f"no node of the Ray cluster can be used: {'; '.join(problems) or 'it has none with a CPU'}"
            )
        if problems:
            print(
                f"assay: not all nodes of the Ray cluster are used: {'; '.join(problems)}", file=sys.stderr, flush=True
            )
        return nodes


def _greeted(asked: list[Any]) -> tuple[list[Any], list[Any]]:
    """Who has, and who has not in time."""
    if not asked:
        return [], []
    ready, late = ray.wait(asked, num_returns=len(asked), timeout=SAY_S)
    if not late:
        return ready, late
    waits = f"{len(late)} of {len(asked)} nodes of the Ray cluster are not ready: other work may have taken them"
    print(f"assay: {waits}; they are waited for, a minute where others are ready", file=sys.stderr, flush=True)
    ready, late = ray.wait(asked, num_returns=len(asked), timeout=OTHERS_S - SAY_S)
    if not ready:
        ray.wait(asked, num_returns=1, timeout=START_S - OTHERS_S)
        ready, late = ray.wait(asked, num_returns=len(asked), timeout=SAY_S)
    return ready, late


def _start(found: dict[str, Any], settings: bytes) -> Any:
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


def _reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1][:200]

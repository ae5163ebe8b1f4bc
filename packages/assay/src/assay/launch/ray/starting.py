"""Agents that start on the nodes of a cluster. Who has asked for them has something else to do meanwhile."""

from __future__ import annotations

import contextlib
import sys
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from assay.errors import WorkerFailed
from assay.launch.ray.agent import Agent, versions
from assay.launch.ray.messages import Greeting, Settings
from assay.launch.ray.ray_node import Node
from assay.launch.ray.silent_nodes import ASKED

START_S = 300.0
"""For an agent: a node that other work has taken is not waited for longer."""
TOKEN = ".assay-ray-"
NOTE_S = 10.0
"""After it, a node that has not greeted is named: the others are at work."""


@dataclass(frozen=True)
class _Asked:
    """An agent that has not greeted. `gpus` are what its node offers to Ray, `at` is when it was asked."""

    actor: Any
    ray_id: str
    where: str
    gpus: int
    at: float


class StartingAgents:
    """One on each node that has none, at work as soon as it greets: whoever is late holds up nobody. `settings` are without the folder,
    which is the present one. Raises OSError where nobody may write there."""

    def __init__(self, settings: Settings) -> None:
        folder, name = Path.cwd(), f"{TOKEN}{uuid.uuid4().hex}"
        self._token = folder / name
        self._said = msgspec.msgpack.encode(msgspec.structs.replace(settings, folder=str(folder), token=name))
        self._asked: dict[Any, _Asked] = {}
        self._named: set[str] = set()
        self._problems: list[str] = []
        self._given_up = 0

    @property
    def greetings(self) -> list[Any]:
        """What Ray is to wait for, of those that have not greeted."""
        return list(self._asked)

    @property
    def gpus(self) -> tuple[int, ...]:
        """What Ray says that each node has whose agent has not greeted."""
        return tuple(asked.gpus for asked in self._asked.values())

    def start(self, have_one: Iterable[str] = ()) -> None:
        """On all nodes that live, but for these and those where one is starting."""
        touch_token(self._token)
        served = {*have_one, *(asked.ray_id for asked in self._asked.values())}
        bare = [node for node in ray.nodes() if node["Alive"] and node["NodeID"] not in served]
        for node in bare:
            if node["Resources"].get("CPU", 0):
                actor, gpus = _start(node, self._said), int(node["Resources"].get("GPU", 0))
                where = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
                self._asked[actor.greet.remote()] = _Asked(actor, node["NodeID"], where, gpus, time.monotonic())

    def first(self) -> list[Node]:
        """Those that have greeted, as soon as one has. Raises WorkerFailed where none does."""
        nodes = self.ready(NOTE_S, quiet=True)
        if not nodes:
            self._name_late("the run waits for one that does")
        while self._asked and not nodes:
            nodes = self.ready(START_S, quiet=True)
        taken = [f"{self._given_up} of its nodes are taken by other work" for _ in range(bool(self._given_up))]
        problems, self._problems, self._given_up = [*taken, *self._problems], [], 0
        if not nodes:
            raise WorkerFailed(
                f"no node of the Ray cluster can be used: {'; '.join(problems) or 'it has none with a CPU'}"
            )
        _say_left_out(problems)
        return nodes

    def ready(self, patience_s: float = 0.0, *, quiet: bool = False) -> list[Node]:
        """Those that have greeted since; one is waited for so long, none longer than `START_S`. Unless `quiet`, others are at work, and
        who is late is named."""
        if not self._asked:
            return []
        until = min(asked.at for asked in self._asked.values()) + START_S
        patience_s = min(patience_s, max(until - time.monotonic(), 0.0))
        greeted, _ = ray.wait(list(self._asked), num_returns=1, timeout=patience_s)
        if greeted:  # and whoever came beside it
            greeted, _ = ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        nodes = [node for greeting in greeted if (node := self._greeted(greeting, self._asked.pop(greeting)))]
        if not quiet:
            problems, self._problems = self._problems, []
            _say_left_out(problems)
            self._name_late("the others go on without it")
        self._give_up_late()
        if not self._asked:
            self._token.unlink(missing_ok=True)
        return nodes

    def give_up(self) -> None:
        """Nobody waits for them any more."""
        self._token.unlink(missing_ok=True)
        asked, self._asked = self._asked, {}
        for request in asked.values():
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(request.actor)

    def _greeted(self, greeting: Any, asked: _Asked) -> Node | None:
        try:
            greeted_node = msgspec.msgpack.decode(ray.get(greeting), type=Greeting)
        except ray.exceptions.RayError as error:
            lives = any(node["Alive"] and node["NodeID"] == asked.ray_id for node in ray.nodes())
            why = (
                f"cannot run assay ({_reason(error)}): install it there" if lives else "was lost before it had started"
            )
            self._problems.append(f"the node {asked.where} {why}")
            return None
        if greeted_node.problem:
            self._problems.append(f"{greeted_node.node}: {greeted_node.problem}")
            ray.kill(asked.actor)
            return None
        stream = asked.actor.results.options(num_returns="streaming").remote()
        return Node(
            greeted_node.node,
            asked.actor,
            stream,
            greeted_node.workers,
            greeted_node.gpus,
            asked.ray_id,
            greeted_node.base,
        )

    def _name_late(self, consequence: str) -> None:
        for asked in self._asked.values():
            if asked.ray_id not in self._named and time.monotonic() - asked.at >= NOTE_S:
                self._named.add(asked.ray_id)
                print(
                    f"assay: the node {asked.where} has not started in {NOTE_S:.0f} s, and {consequence}: other work has taken its CPUs "
                    "or GPUs; `ray status` shows what is in use, and it joins when they are free",
                    file=sys.stderr,
                    flush=True,
                )

    def _give_up_late(self) -> None:
        late = {ref: asked for ref, asked in self._asked.items() if time.monotonic() - asked.at >= START_S}
        self._given_up += len(late)
        for ref, asked in late.items():
            del self._asked[ref]
            ray.kill(asked.actor)


def touch_token(token: Path) -> None:
    """Those beside it that nobody can wait for any more are of drivers that were killed: they are removed."""
    token.touch()
    now = token.stat().st_mtime  # of the disk's own clock
    for other in token.parent.glob(f"{TOKEN}*"):
        with contextlib.suppress(OSError):
            if now - other.stat().st_mtime > 2 * START_S:
                other.unlink()


def _say_left_out(problems: list[str]) -> None:
    """Of nodes that cannot be used, where others can."""
    if problems:
        print(f"assay: not all nodes of the Ray cluster are used: {'; '.join(problems)}", file=sys.stderr, flush=True)


def _start(node: dict[str, Any], settings: bytes) -> Any:
    """An actor that has all that the node offers: nobody else measures or loads it meanwhile."""
    cpus, number = node["Resources"]["CPU"], node["Resources"].get("GPU", 0)
    return (
        ray.remote(concurrency_groups={ASKED: 1})(Agent)
        .options(
            num_cpus=cpus,
            num_gpus=number,
            max_restarts=0,
            max_concurrency=8,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
        )
        .remote(settings, int(cpus), versions())
    )


def _reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1][:200]

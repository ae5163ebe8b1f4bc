"""Nodes that owe answers and say nothing for long. Ray itself tells of a process that died, and not of one that stands still."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.launch.ray.ray_node import Node

ASKED = "asked"
"""What an agent is asked here has a thread of its own there: the others may build an environment."""


class SilentNodes:
    """Each is asked whether it is at work. It is lost where it has not answered by the end of the next silence, and where it says twice
    that it has nothing to do: what it owes never came to it, or its answers did not come here."""

    def __init__(self) -> None:
        self._asked: dict[Any, Node] = {}
        self._idle: set[Node] = set()

    @property
    def calls(self) -> list[Any]:
        """What Ray is to wait for."""
        return list(self._asked)

    def ask(self, busy: Iterable[Node]) -> list[Node]:
        """After a silence: of those that owe answers, the ones that did not answer since the last. The others are asked."""
        silent = [node for node in busy if node in self._asked.values()]
        asked = [node for node in busy if node not in silent]
        self._asked = {node.actor.is_at_work.options(concurrency_group=ASKED).remote(): node for node in asked}
        return silent

    def answer(self, call: Any, is_at_work: bool | None) -> list[Node]:
        """The node that gave it, where it is lost. None: its agent is gone."""
        node = self._asked.pop(call)
        if is_at_work:
            self._idle.discard(node)
            return []
        if is_at_work is None or node in self._idle:
            return [node]
        self._idle.add(node)
        return []

    def heard(self, node: Node) -> None:
        """It has given results."""
        self._idle.discard(node)
        self._asked = {call: asked for call, asked in self._asked.items() if asked is not node}

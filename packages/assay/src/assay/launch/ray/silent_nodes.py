"""Nodes that owe answers and say nothing for long. Ray itself tells of a process that died, and not of one that stands still."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from assay.launch.ray.ray_node import Node

ASKED = "asked"
"""What an agent is asked here has a thread of its own there: the others may build an environment."""


class SilentNodes:
    """Each is asked whether it is at work when it has said nothing for `patience_s`, whatever the others say. It is lost where it has not
    answered in as long again, and where it says twice that it has nothing to do: what it owes never came to it, or its answers did not
    come here."""

    def __init__(self, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience_s, self._clock = patience_s, clock
        self._since: dict[Node, float] = {}  # its last word, or when it was asked
        self._asked: dict[Any, Node] = {}
        self._idle: set[Node] = set()

    @property
    def calls(self) -> list[Any]:
        """What Ray is to wait for."""
        return list(self._asked)

    def longest_first(self, busy: Collection[Node]) -> list[Node]:
        """Those that owe answers, and no others are known from now on: what one owes next, it owes from then. In this order no node that
        says much hides what another one has said."""
        now = self._clock()
        self._since = {node: self._since.get(node, now) for node in busy}
        self._asked = {call: node for call, node in self._asked.items() if node in self._since}
        return sorted(busy, key=self._since.__getitem__)

    def due_s(self) -> float:
        """Until one of them is to be asked, or is lost."""
        return max(min(self._since.values()) + self._patience_s - self._clock(), 0.0)

    def look(self) -> list[Node]:
        """Those that are lost. Others that have said nothing for long are asked."""
        now, waited_for = self._clock(), set(self._asked.values())
        silent = [node for node, since in self._since.items() if now - since >= self._patience_s]
        for node in silent:
            self._since[node] = now
            if node not in waited_for:
                self._asked[node.actor.is_at_work.options(concurrency_group=ASKED).remote()] = node
        return [node for node in silent if node in waited_for]

    def answer(self, call: Any, is_at_work: bool | None) -> list[Node]:
        """The node that gave it, where it is lost. None: its agent is gone."""
        node = self._asked.pop(call)
        self._since[node] = self._clock()
        if is_at_work:
            self._idle.discard(node)
            return []
        if is_at_work is None or node in self._idle:
            return [node]
        self._idle.add(node)
        return []

    def heard(self, node: Node) -> None:
        """It has given results."""
        self._since[node] = self._clock()
        self._idle.discard(node)
        self._asked = {call: asked for call, asked in self._asked.items() if asked is not node}

"""Which nodes that owe answers are lost when they say nothing, and when. Ray itself is not needed, and the clock is set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import pytest

from assay.launch.ray.ray_node import Node
from assay.launch.ray.silent_nodes import ASKED, SilentNodes

LOOK_S = 60.0
END_S = 1000.0


@dataclass
class _Clock:
    now: float = 0.0


@dataclass(eq=False)
class _Call:
    due: float
    says: bool | None


@dataclass
class _Agent:
    """Says, so long after it is asked, whether it is at work: each in its turn, None where its process is gone. `results` are the times at
    which it gives some."""

    says: Sequence[bool | None] = (True,)
    after_s: float = 1.0
    results: Sequence[float] = ()
    clock: _Clock = field(default_factory=_Clock)
    asked: int = 0

    @property
    def is_at_work(self) -> _Agent:
        return self

    def options(self, *, concurrency_group: str) -> _Agent:
        assert concurrency_group == ASKED
        return self

    def remote(self) -> _Call:
        self.asked += 1
        return _Call(self.clock.now + self.after_s, self.says[(self.asked - 1) % len(self.says)])


def _lost(*agents: _Agent) -> list[float]:
    """When each is lost by a driver that hears of one thing at a time. Infinity: it is kept."""
    clock, lost = _Clock(), dict[str, float]()
    silent = SilentNodes(LOOK_S, lambda: clock.now)
    nodes = [Node(f"{number}", agent, None, 1) for number, agent in enumerate(agents)]
    for agent in agents:
        agent.clock = clock
    while clock.now < END_S:
        busy = silent.longest_first([node for node in nodes if node.name not in lost])
        if not busy:
            break
        given = [(at, node) for node in busy for at in node.actor.results if at > clock.now]
        comes: list[tuple[float, Node | _Call]] = [*given, *((call.due, call) for call in silent.calls)]
        at, what = min(comes, key=lambda pair: pair[0], default=(inf, None))
        due = clock.now + silent.due_s()
        clock.now = min(at, due)
        gone: list[Node] = []
        if isinstance(what, _Call) and at <= due:
            gone = silent.answer(what, what.says)
        elif what is not None and at <= due:
            silent.heard(what)
        lost |= {node.name: clock.now for node in (*gone, *silent.look())}
    return [lost.get(node.name, inf) for node in nodes]


@pytest.mark.parametrize(
    ("agent", "at"),
    [
        (_Agent(after_s=inf), 120.0),
        (_Agent(after_s=inf, results=(30.0,)), 150.0),
        (_Agent(after_s=inf, results=(70.0,)), 190.0),
        (_Agent(after_s=61.0), 120.0),
        (_Agent(after_s=59.0), inf),
        (_Agent(), inf),
        (_Agent((None,)), 61.0),
        (_Agent((True, None)), 122.0),
        (_Agent((False,)), 122.0),
        (_Agent((False, True)), inf),
        (_Agent((True, True, False, False)), 244.0),
        (_Agent((False,), results=range(100, 1100, 100)), inf),
    ],
    ids=[
        "stands still",
        "stands still after results",
        "stands still after results that came when it was asked",
        "answers too late",
        "answers late",
        "at work",
        "its process is gone",
        "its process goes",
        "has nothing to do",
        "jobs were on their way",
        "has nothing to do any more",
        "results were on their way each time",
    ],
)
def test_a_node_is_lost_that_does_not_answer_or_says_twice_that_it_has_nothing_to_do(agent: _Agent, at: float) -> None:
    assert _lost(agent) == [at]


def test_who_stands_still_is_lost_beside_others_and_costs_none_of_them() -> None:
    at_work, still, slow = _Agent(), _Agent(after_s=inf), _Agent(after_s=40.0)
    assert _lost(at_work, still, slow) == [inf, 120.0, inf]
    assert still.asked == 1


def test_who_gives_results_all_the_time_is_not_asked() -> None:
    agent = _Agent((), results=range(50, 1100, 50))
    assert _lost(agent) == [inf]
    assert not agent.asked


def test_results_of_one_excuse_no_other() -> None:
    assert _lost(_Agent(after_s=inf), _Agent(results=(70.0,))) == [120.0, inf]
    assert _lost(_Agent(after_s=inf), _Agent(results=range(1, 1100))) == [120.0, inf]

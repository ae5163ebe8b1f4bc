"""What a node of a cluster may have ahead, and what it is not heard of any more. Ray itself is not needed."""

from __future__ import annotations

import pytest

from assay.core.case import Case
from assay.core.job import NoopJob
from assay.core.model import Model
from assay.launch.ray import node as module
from assay.launch.ray.node import Node


def _jobs(count: int) -> list[NoopJob]:
    return [NoopJob(Case(f"case-{number}", Model("m", "m.onnx", ""))) for number in range(count)]


def test_a_node_gets_as_much_as_it_does_in_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    node, jobs = Node("a", None, None, 2), _jobs(4)
    assert node.room == 4
    node.give(jobs)
    assert node.room == 0
    now[0] = 60.0
    assert node.answer(jobs[0].key)
    assert node.room == 1, "long jobs are shared out to the end"
    node.answered, node.busy_s = 1000, 2.0
    assert node.room == 500 - 3
    node.answered = 10**6
    assert node.room == module.MOST_AHEAD - 3


def test_what_a_node_does_not_owe_is_not_heard() -> None:
    node, jobs = Node("a", None, None, 2), _jobs(1)
    node.give(jobs)
    assert node.answer(jobs[0].key)
    assert not node.answer(jobs[0].key)

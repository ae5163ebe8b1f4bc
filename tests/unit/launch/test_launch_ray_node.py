"""What a node of a cluster may have ahead, and what it is not heard of any more. Ray itself is not needed."""

from __future__ import annotations

from assay.core.case import Case
from assay.core.job import NoopJob
from assay.core.model import Model
from assay.launch.ray import ray_node as module
from assay.launch.ray.ray_node import Node


def _jobs(count: int) -> list[NoopJob]:
    return [NoopJob(Case(f"case-{number}", Model("m", "m.onnx", ""))) for number in range(count)]


def test_a_node_gets_as_much_as_it_does_in_a_second() -> None:
    node, jobs = Node("a", None, None, 2), _jobs(6)
    assert node.room == 4, "how long a job takes is not known yet"
    node.give(jobs[:4])
    assert node.room == 0
    assert node.answer(jobs[0].key, 60.0)
    assert node.room == 1, "long jobs are shared out to the end"
    node.job_s = 0.004
    assert node.room == 500 - 3


def test_short_jobs_go_in_large_parcels_from_the_first_answer_on() -> None:
    """However long its workers took to start, and however late its answer came."""
    node, jobs = Node("a", None, None, 1), _jobs(30)
    node.give(jobs[:2])
    assert node.answer(jobs[0].key, 0.0)
    assert node.room == module.MOST_AHEAD - 1
    for job in jobs[2:]:
        node.give([job])
        assert node.answer(job.key, 10.0)
    assert node.room == 1, "those that come next are long"


def test_a_job_that_ended_its_process_says_nothing_of_the_others() -> None:
    node, jobs = Node("a", None, None, 1), _jobs(2)
    node.give(jobs)
    assert node.answer(jobs[0].key, 5.0)
    assert node.answer(jobs[1].key, None)
    assert node.room == 2


def test_what_a_node_does_not_owe_is_not_heard() -> None:
    node, jobs = Node("a", None, None, 2), _jobs(1)
    node.give(jobs)
    assert node.answer(jobs[0].key, 1.0)
    assert not node.answer(jobs[0].key, 1.0)

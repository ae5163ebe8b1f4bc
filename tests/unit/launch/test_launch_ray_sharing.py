"""Jobs that may have taken a node down, and an agent that cannot take its jobs. Ray itself is not needed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.core.case import Case
from assay.core.job import NoopJob, VerifyJob
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.errors import WorkerFailed
from assay.launch.failed_result import lost_nodes
from assay.launch.job_queue import worker_key
from assay.launch.ray.agent import Agent, versions
from assay.launch.ray.messages import Settings
from assay.launch.ray.ray_node import Node
from assay.launch.ray.sharing import Sharing, for_alone
from assay.testing.builders import make_flow

GPUS = (("lost", 1), ("bare", 0), ("other", 1))


def _jobs(count: int) -> list[NoopJob]:
    return [NoopJob(Case(f"case-{number}", Model("m", "m.onnx", ""))) for number in range(count)]


@pytest.mark.parametrize("killer", [0, 3, 9])
def test_a_job_that_takes_nodes_down_costs_two_and_no_other_job_is_blamed(killer: int) -> None:
    """A node does its jobs in its order, and goes with the killer: what it owes by then is given to others."""
    jobs, sharing = _jobs(10), Sharing(pairs=False)
    nodes, done, blamed, lost = [Node(name, None, None, 4) for name in "abc"], [], [], 0
    for job in jobs:
        sharing.add(job)
    while sharing or any(node.owed for node in nodes):
        sharing.give(nodes)
        node = next(node for node in nodes if node.owed)
        key = next(iter(node.owed))
        if key == jobs[killer].key:
            nodes.remove(node)
            lost += 1
            blamed += sharing.lost(node)
        else:
            assert node.answer(key, 1.0)
            done.append(key)
    assert lost == 2
    assert blamed == [jobs[killer]]
    result = lost_nodes(blamed[0], lost)
    assert (result.outcome, result.attempts) == (Outcome.CRASH, 2)
    assert "2 machines were lost" in result.detail
    assert sorted(done) == sorted(job.key for job in jobs if job is not jobs[killer])


@pytest.mark.parametrize(("count", "words"), [(1, "1 job has"), (2, "2 jobs have")])
def test_where_the_last_node_is_lost_a_node_is_to_be_started(count: int, words: str) -> None:
    sharing = Sharing(pairs=False)
    for job in _jobs(count):
        sharing.add(job)
    assert sharing.left("the last node (a)") == f"the last node (a) is lost, and {words} no answer: start a node again"


def test_what_is_not_installed_on_a_node_is_done_by_those_that_have_it() -> None:
    """A node that fails at once has room at once: it would be given nearly all jobs."""
    model = Model("m", "m.onnx", "")
    jobs = [
        VerifyJob(Case(f"{number}", model), make_flow(name, backend=name))
        for number in range(300)
        for name in ("x", "y")
    ]
    bare, other = nodes = [Node(name, None, None, 1) for name in ("bare", "other")]
    sharing, done = Sharing(pairs=False), []
    for job in jobs:
        sharing.add(job)
    while sharing or any(node.owed for node in nodes):
        sharing.give(nodes)
        for node in nodes:
            for job in list(node.owed.values()):
                assert isinstance(job, VerifyJob)
                if node is bare and job.flow.backend == "x" and sharing.refused(node, job, nodes):
                    continue
                node.answer(job.key, 0.01)
                done.append((job.flow.backend, node.name, job.key))
    assert sorted(key for _, _, key in done) == sorted(job.key for job in jobs)
    assert {name for backend, name, _ in done if backend == "x"} == {"other"}
    assert "bare" in {name for backend, name, _ in done if backend == "y"}
    assert for_alone(nodes) == [other]


@pytest.mark.parametrize("lacking", [("a",), ("a", "b")], ids=["one node lacks it", "both lack it"])
def test_what_one_job_needs_and_a_node_lacks_costs_that_node_no_other_job(lacking: tuple[str, ...]) -> None:
    """As the locale of one operator, where all others of the backend run."""
    jobs = [VerifyJob(Case(f"{number}", Model("m", "m.onnx", "")), make_flow()) for number in range(100)]
    nodes = [Node(name, None, None, 1) for name in ("a", "b")]
    sharing, done = Sharing(pairs=False), []
    for job in jobs:
        sharing.add(job)
    while sharing or any(node.owed for node in nodes):
        sharing.give(nodes)
        for node in nodes:
            for job in list(node.owed.values())[:1]:
                is_odd = job.case.name in ("4", "5")
                if is_odd and node.name in lacking and sharing.refused(node, job, nodes):
                    continue
                node.has.add(worker_key(job))
                node.answer(job.key, 0.01)
                done.append((node.name, job.case.name))
    assert sorted(name for _, name in done) == sorted(job.case.name for job in jobs)
    assert min(sum(node == name for node, _ in done) for name in "ab") > 30
    if lacking == ("a",):
        assert {node for node, name in done if name in ("4", "5")} == {"b"}


@pytest.mark.parametrize("others", [0, 1], ids=["none is left", "another has no GPU"])
def test_what_no_node_has_is_answered_by_the_last_that_was_asked(others: int) -> None:
    job = VerifyJob(Case("case", Model("m", "m.onnx", "")), make_flow(device="cuda"))
    nodes = [Node("a", None, None, 1, gpus=1), *(Node("bare", None, None, 1) for _ in range(others))]
    sharing = Sharing(pairs=False)
    sharing.add(job)
    assert sharing.give(nodes, 1) == {nodes[0]: [job]}
    assert not sharing.refused(nodes[0], job, nodes, 1)
    assert nodes[0].answer(job.key, 0.01)


def test_what_a_lost_node_owed_is_tried_last_and_alone() -> None:
    jobs, sharing, first, second = _jobs(6), Sharing(pairs=False), Node("a", None, None, 1), Node("b", None, None, 1)
    for job in jobs[:2]:
        sharing.add(job)
    assert sharing.give([first]) == {first: jobs[:2]}
    for job in jobs[2:4]:
        sharing.add(job)
    assert sharing.lost(first) == []
    assert sharing.give([second]) == {second: jobs[2:4]}, "first whatever took no node down"
    for job in jobs[2:4]:
        second.answer(job.key, 1.0)
    sharing.add(jobs[4])
    second.give([jobs[5]])
    second.answer(jobs[5].key, 1.0)
    assert sharing.give([second]) == {second: [jobs[4]]}
    second.answer(jobs[4].key, 1.0)
    assert sharing.give([second]) == {second: [jobs[0]]}
    sharing.add(jobs[5])
    assert sharing.give([second]) == {}, "nothing else beside it"


def test_two_that_need_each_other_stay_together() -> None:
    jobs, sharing, first, second = _jobs(2), Sharing(pairs=True), Node("a", None, None, 1), Node("b", None, None, 1)
    for job in jobs:
        sharing.add(job)
    sharing.give([first])
    assert sharing.lost(first) == []
    assert sharing.give([second]) == {second: jobs}


def _on(device: str, case: str = "") -> VerifyJob:
    return VerifyJob(Case(case or device, Model("m", "m.onnx", "")), make_flow(device=device))


def test_a_job_that_needs_a_gpu_goes_to_a_node_that_has_one_and_the_others_go_on() -> None:
    sharing = Sharing(pairs=False)
    bare, single, two = Node("bare", None, None, 1), Node("one", None, None, 1, 1), Node("two", None, None, 1, 2)
    asked = [_on("cuda", f"case-{number}") for number in range(8)] + [_on("cuda:1"), _on("cuda:7")]
    plain = _jobs(2)
    for job in (*asked, *plain):
        sharing.add(job)
    assert sharing.give([bare], 2) == {bare: plain}, "what needs a GPU waits for a node that has one"
    assert len(sharing) == len(asked)
    given = sharing.give([bare, single, two], 2)
    assert bare not in given
    assert {job.key for job in given[two]} == {_on("cuda:1").key, _on("cuda:7").key}, "what none has says so there"
    assert all(job.flow.device == "cuda" for job in given[single])


def test_what_is_tried_again_keeps_its_gpu() -> None:
    """After a lost node, and where the clock ended it on a busy machine: that repeat is alone."""
    sharing, lost, bare, other = Sharing(pairs=False), *(Node(name, None, None, 1, gpus) for name, gpus in GPUS)
    job, plain = _on("cuda"), _jobs(1)[0]
    sharing.add(job)
    sharing.give([lost, bare], 1)
    assert list(lost.owed) == [job.key]
    sharing.lost(lost)
    sharing.add(plain)
    assert sharing.give([bare], 1) == {bare: [plain]}
    bare.answer(plain.key, 1.0)
    assert sharing.give([bare], 1) == {}
    assert sharing.give([bare, other], 1) == {other: [job]}
    assert for_alone([bare, other, lost]) == [other]
    assert for_alone([bare]) == [bare]
    assert for_alone([]) == []


@pytest.mark.parametrize("devices", [("cuda", "cpu"), ("cpu", "cuda")])
def test_two_that_need_each_other_stay_together_where_one_needs_a_gpu(devices: tuple[str, str]) -> None:
    sharing, lost, bare, other = Sharing(pairs=True), *(Node(name, None, None, 1, gpus) for name, gpus in GPUS)
    pair = [_on(device) for device in devices]
    for job in pair:
        sharing.add(job)
    assert sorted(job.key for job in sharing.give([lost], 1)[lost]) == sorted(job.key for job in pair)
    assert sharing.lost(lost) == []
    assert sharing.give([bare], 1) == {}, "neither goes without the other"
    assert sorted(job.key for job in sharing.give([bare, other], 1)[other]) == sorted(job.key for job in pair)
    assert not sharing


def test_where_no_node_ever_had_a_gpu_its_backend_says_so() -> None:
    sharing, bare, job = Sharing(pairs=False), Node("bare", None, None, 1), _on("cuda")
    sharing.add(job)
    assert sharing.give([bare]) == {bare: [job]}


def test_an_agent_that_cannot_take_its_jobs_says_so_where_it_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").touch()
    agent = Agent(msgspec.msgpack.encode(Settings(1, 1, str(tmp_path), "token")), 1, versions())
    try:
        agent.add(b"no parcel")
        with pytest.raises(WorkerFailed, match="its jobs cannot be taken: "):
            next(agent.results())
    finally:
        agent.end()


def test_what_no_node_has_yet_waits_for_those_that_are_still_coming() -> None:
    job, (bare,) = _on("cuda"), (Node("bare", None, None, 1),)
    sharing = Sharing(pairs=False)
    sharing.add(job)
    assert sharing.give([bare], 1, [1]) == {}, "it needs a GPU"
    assert sharing.give([bare], 0, []) == {bare: [job]}, "nobody with one has come"
    assert sharing.refused(bare, job, [bare], 0, [0]), "another node may have what is missing here"
    assert sharing.give([bare], 0, [0]) == {}
    assert sharing.give([bare], 0, []) == {bare: [job]}
    assert not sharing.refused(bare, job, [bare], 0, [])


def test_measuring_stays_on_one_node_and_waits_for_more_gpus_only() -> None:
    first, second = Node("a", None, None, 1, ray_id="2"), Node("b", None, None, 1, ray_id="1")
    gpu = Node("c", None, None, 1, gpus=1)
    assert for_alone([first], None, [0]) == [first]
    assert for_alone([first, second], first, []) == [first], "whoever joins later"
    assert for_alone([first, second], None, []) == [second], "the same in the next run"
    assert for_alone([first], None, [0, 1]) == []
    assert for_alone([first, gpu], first, []) == [gpu]


def test_each_missing_part_of_a_node_is_said_once() -> None:
    node, other = Node("first", None, None, 1), Node("second", None, None, 1)
    said = [node.is_news(detail) for detail in ("no tvm", "no tvm", "no locale de_DE", "no locale de_DE")]
    assert said == [True, False, True, False]
    assert other.is_news("no tvm")

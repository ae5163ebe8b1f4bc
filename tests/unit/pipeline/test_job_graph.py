"""One queue: what follows from what is there is ready, two launches never overlap, and no route is forgotten."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.job import NoopJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.result import Result
from assay.errors import HarnessError
from assay.pipeline import job_graph
from assay.pipeline.job_graph import JobGraph
from assay.ports import JobSource


def _job(name: str) -> Job:
    return NoopJob(Case(name, Model(name, "", "")))


class _Launcher:
    """Takes all that is ready, then ends the newest first. `log` is shared by both launchers."""

    def __init__(self, name: str, log: list[str], most: int = 100) -> None:
        self.name, self.log, self.most, self.open = name, log, most, False

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        self.log.append(f"{self.name} begins")
        self.open = True
        running: list[Job] = []
        try:
            while True:
                while len(running) < self.most and (job := source.next_ready()) is not None:
                    running.append(job)
                if not running:
                    return
                self.log.append("+".join(candidate.case.name for candidate in running))
                yield empty_result(running.pop())
        finally:
            self.open = False
            self.log.append(f"{self.name} ends")


def _graph(most: int = 100) -> tuple[JobGraph, list[str]]:
    log: list[str] = []
    return JobGraph(_Launcher("workers", log, most), _Launcher("isolated", log)), log


def test_one_launch_carries_what_follows_from_what() -> None:
    graph, log = _graph()

    async def of_case(name: str) -> str:
        first = await graph.run(_job(f"{name}1"))
        second = await graph.run(_job(f"{name}2"))
        return first.case + second.case

    assert graph.complete(graph.all_of(map(of_case, "ab"))) == ["a1a2", "b1b2"]
    assert log == ["workers begins", "a1+b1", "a1+b2", "a1", "a2", "workers ends"]


def test_what_runs_alone_waits_until_nothing_else_runs_and_groups_follow_one_another() -> None:
    graph, log = _graph()

    async def measured(name: str) -> list[str]:
        await graph.run(_job(name))
        pair = await graph.together([_job(f"{name}-old"), _job(f"{name}-new")])
        return [result.case for result in pair] + [
            result.case async for result in graph.alone([_job(f"{name}x"), _job(f"{name}y")])
        ]

    (a, b) = graph.complete(graph.all_of(map(measured, "ab")))
    assert a == ["a-new", "a-old", "ax", "ay"]
    assert b == ["b-new", "b-old", "bx", "by"]
    assert log[:5] == ["workers begins", "a+b", "a", "workers ends", "isolated begins"]
    assert log[5:] == ["b-old+b-new", "b-old", "a-old+a-new", "a-old", "bx", "by", "ax", "ay", "isolated ends"]


def test_two_jobs_of_one_key_do_not_run_at_once() -> None:
    graph, log = _graph()

    async def twice() -> int:
        return len([result async for result in graph.results([_job("a"), _job("a"), _job("b")])])

    assert graph.complete(twice()) == 3
    assert log == ["workers begins", "a+b", "a", "a", "workers ends"]


def test_one_at_a_time_makes_what_others_need() -> None:
    graph, _ = _graph()
    made: list[str] = []

    async def need(name: str) -> None:
        async with graph.lock("folder"):
            if not made:
                await graph.run(_job(name))
                made.append(name)

    graph.complete(graph.all_of(map(need, "abc")))
    assert made == ["a"]


def test_more_routes_than_go_at_once_all_end_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_graph, "AT_ONCE", 2)
    graph, log = _graph()

    async def one(name: str) -> str:
        return (await graph.run(_job(name))).case

    assert graph.complete(graph.all_of(map(one, "abcde"))) == list("abcde")
    assert max(line.count("+") for line in log) == 1


@pytest.mark.parametrize("where", ["route", "other", "launcher"])
def test_what_is_raised_anywhere_is_raised_in_the_first_route_and_no_launch_stays_open(where: str) -> None:
    graph, _ = _graph()
    seen: list[Any] = []

    async def fails() -> None:
        await graph.run(_job("a"))
        raise HarnessError("broken")

    async def first() -> None:
        try:
            if where == "route":
                await fails()
            await graph.all_of([graph.run(_job("b")), fails()])
        except BaseException as error:
            seen.append(error)
            raise

    if where == "launcher":
        graph.workers.launch = lambda source: _broken()  # type: ignore[method-assign]
    with pytest.raises(HarnessError, match="broken"):
        graph.complete(first())
    assert [str(error) for error in seen] == ["broken"]
    assert not getattr(graph.workers, "open", False)


def test_who_catches_what_one_of_several_raises_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_graph, "AT_ONCE", 2)
    graph, _ = _graph()
    begun: list[str] = []

    async def one(name: str) -> None:
        begun.append(name)
        await graph.run(_job(name))
        if name == "b":
            raise HarnessError("the time is over")

    async def first() -> str:
        try:
            await graph.all_of(map(one, "abcd"))
        except HarnessError:
            return (await graph.run(_job("last"))).case
        return ""

    assert graph.complete(first()) == "last"
    assert begun == ["a", "b"]


def test_who_catches_what_the_launcher_raises_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = _graph()
    monkeypatch.setattr(graph.workers, "launch", lambda source: _broken())

    async def first() -> str:
        try:
            return (await graph.run(_job("a"))).case
        except HarnessError:
            return "best so far"

    assert graph.complete(first()) == "best so far"


def _broken() -> Generator[Result, None, None]:
    raise HarnessError("broken")
    yield


def test_a_route_that_nothing_lets_go_on_is_a_defect_that_is_named() -> None:
    graph, _ = _graph()
    with pytest.raises(HarnessError, match="waits for something that no job gives"):
        graph.complete(_forever())


async def _forever() -> None:
    await job_graph.Later()

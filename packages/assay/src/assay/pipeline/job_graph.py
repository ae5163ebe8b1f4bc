"""One queue of jobs with their needs. A route (`async def`) says what follows from what, in the order in which it is read:

    recorded = await graph.run(recording)
    async for result in graph.results(verifying): ...

Many routes are under way at once. The jobs that they wait for are in one queue, from which a launcher takes whatever is ready.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Coroutine, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from assay.core.job_base import Job
from assay.core.result import Result
from assay.errors import HarnessError
from assay.judge.job_outcome import with_outcome
from assay.pipeline.busy_machine import after_repeat_alone, is_doubtful
from assay.pipeline.job_sources import Groups, Ready
from assay.pipeline.model_files import ModelFiles
from assay.ports import Launcher

AT_ONCE = 200
"""Routes, each of which takes some kB: enough that jobs of one kind follow one another."""

T = TypeVar("T")
Route = Coroutine["Later[Any]", None, T]


class Stage(Protocol):
    """What is done with jobs of one case, until each has its result."""

    def results(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        """One each, in the order they end."""
        ...


async def result_of(stage: Stage, job: Job) -> Result:
    """Of one job."""
    (result,) = [only async for only in stage.results([job])]
    return result


class Later(Generic[T]):
    """A value that is not there yet. Any number of routes may wait for it."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self.waiting: list[Route[Any]] = []

    def __await__(self) -> Generator[Later[T], None, T]:
        if not self.values:
            yield self
        return self.values[0]

    @property
    def is_there(self) -> bool:
        return bool(self.values)

    def give(self, value: T) -> list[Route[Any]]:
        """Returns the routes that can go on now."""
        self.values.append(value)
        return self.waiting


class _Ends:
    """Results of several jobs, in the order they end."""

    def __init__(self) -> None:
        self._ended: deque[Result] = deque()
        self._awaited: Later[None] = Later()

    def give(self, result: Result) -> list[Route[Any]]:
        """As `Later.give`."""
        self._ended.append(result)
        awaited, self._awaited = self._awaited, Later()
        return awaited.give(None)

    async def next(self) -> Result:
        while not self._ended:
            await self._awaited
        return self._ended.popleft()


@dataclass(frozen=True)
class _Asked:
    """`grouped`: it runs when nothing else does."""

    job: Job
    receiver: Later[Result] | _Ends
    grouped: bool = False


class JobGraph:
    """`workers` do what is asked as `run` and `results`; `isolated` what is asked as `alone`, when nothing else runs, and what had not
    its time on a busy machine."""

    def __init__(self, workers: Launcher, isolated: Launcher) -> None:
        self.workers, self.isolated = workers, isolated
        self._ready = Ready()
        self._groups = Groups()
        self._asked: dict[str, deque[_Asked]] = {}
        self._under_way: dict[Route[Any], Later[Any]] = {}
        self._can_go_on: deque[Route[Any]] = deque()
        self._locks: dict[Hashable, Later[None]] = {}
        self._before: dict[str, Result] = {}
        self._model_files = ModelFiles()

    def expect(self, jobs: Iterable[Job]) -> None:
        """They will probably be asked for, once what they need is there."""
        for job in jobs:
            self._ready.coming.setdefault(job.subject, job)

    async def run(self, job: Job) -> Result:
        """Its result."""
        result: Later[Result] = Later()
        self._ask(_Asked(job, result))
        return await result

    async def results(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        """One each, in the order they end."""
        ends = _Ends()
        for job in jobs:
            self._ask(_Asked(job, ends))
        for _ in jobs:
            yield await ends.next()

    async def alone(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        """As `results`, but each in a fresh process, when no other job runs."""
        ends = _Ends()
        for job in jobs:
            self._ask_together([job], ends)
        for _ in jobs:
            yield await ends.next()

    async def together(self, jobs: Sequence[Job]) -> list[Result]:
        """In a fresh process each, at the same time, when no other job runs."""
        ends = _Ends()
        self._ask_together(jobs, ends)
        return [await ends.next() for _ in jobs]

    async def all_of(self, routes: Iterable[Route[T]]) -> list[T]:
        """What each of these routes returns, `AT_ONCE` at once. After an error no more are begun, and it is raised when all have ended."""
        left, returned, errors = enumerate(routes), dict[int, T](), list[Exception]()

        async def follow(number: int, route: Route[T]) -> None:
            try:
                returned[number] = await route
                while not errors and (following := next(left, None)):
                    returned[following[0]] = await following[1]
            except Exception as error:  # noqa: BLE001  whatever it is, it is raised where these routes are waited for
                errors.append(error)

        ends = [self._start(follow(number, route)) for number, route in islice(left, AT_ONCE)]
        for end in ends:
            await end
        for _, never in left if errors else ():
            never.close()
        for error in errors:
            raise error
        return [returned[number] for number in range(len(returned))]

    @asynccontextmanager
    async def lock(self, name: Hashable) -> AsyncIterator[None]:
        """One route at a time: for what one makes and others need, too."""
        while name in self._locks:
            await self._locks[name]
        released = self._locks[name] = Later()
        try:
            yield
        finally:
            del self._locks[name]
            self._can_go_on.extend(released.give(None))

    def complete(self, route: Route[T]) -> T:
        """Run jobs until this route returns. What is raised in another route, or while jobs run, is raised in this one, too."""
        returned: list[T] = []
        deque(self.steps(route, returned), maxlen=0)
        return returned[0]

    def steps(self, route: Route[T], returned: list[T]) -> Iterator[None]:
        """As `complete`, but stops after each result. In the end `returned` has what the route returned."""
        end = self._start(route)
        try:
            self._go_on()
            while not end.is_there:
                yield from self._launch()
        except BaseException as error:
            if route in self._under_way:
                del self._under_way[route]
                try:
                    route.throw(error)
                except StopIteration as stop:  # it has an answer all the same
                    return returned.append(stop.value)
            raise
        finally:
            for other in self._under_way:
                other.close()
        returned += end.values

    def _launch(self) -> Iterator[None]:
        """One launch: of the workers as long as anything waits for them, else of what runs alone."""
        if self._ready.jobs:
            results = self.workers.launch(self._ready)
        elif self._groups.waiting:
            results = self.isolated.launch(self._groups)
        else:
            raise HarnessError("a route waits for something that no job gives")
        with closing(results):
            for result in results:
                self._done(result)
                self._go_on()
                yield

    def _ask(self, ended_ask: _Asked) -> None:
        """A result is known by its job's key: of two jobs of one key, the second waits for the first."""
        self._ready.coming.pop(ended_ask.job.subject, None)
        self._model_files.watch(ended_ask.job)
        before = self._asked.setdefault(ended_ask.job.key, deque())
        if not before:
            self._ready.jobs.append(ended_ask.job)
        before.append(ended_ask)

    def _ask_together(self, jobs: Sequence[Job], receiver: _Ends) -> None:
        for job in jobs:
            self._model_files.watch(job)
            self._asked.setdefault(job.key, deque()).append(_Asked(job, receiver, grouped=True))
        self._groups.waiting.append(deque(jobs))

    def _done(self, result: Result) -> None:
        ended_ask = self._asked[result.job_key]
        first = ended_ask.popleft()
        if not first.grouped and is_doubtful(result, first.job):
            self._before[result.job_key] = result
            ended_ask.appendleft(replace(first, grouped=True))
            self._groups.waiting.append(deque([first.job]))
            return
        if before := self._before.pop(result.job_key, None):
            result = after_repeat_alone(before, result)
        if not ended_ask:
            del self._asked[result.job_key]
        elif not ended_ask[0].grouped:
            self._ready.jobs.append(ended_ask[0].job)
        if first.grouped:
            self._groups.running -= 1
        # The worker observed; what its answers are worth is said here, before anybody looks.
        judged = with_outcome(self._model_files.checked(result, first.job), first.job)
        self._can_go_on.extend(first.receiver.give(judged))

    def _start(self, route: Route[T]) -> Later[T]:
        end: Later[T] = Later()
        self._under_way[route] = end
        self._can_go_on.append(route)
        return end

    def _go_on(self) -> None:
        """Each route that can, up to what it waits for next."""
        while self._can_go_on:
            route = self._can_go_on.popleft()
            try:
                later = route.send(None)
            except StopIteration as stop:
                self._can_go_on.extend(self._under_way.pop(route).give(stop.value))
            except BaseException:
                del self._under_way[route]
                raise
            else:
                later.waiting.append(route)

"""Candidate against rival in one process: fresh pairs of engines until the rule has its answer.

Each launch loads both engines anew, in random order and with random padding in memory, calls them in quadruples ABBA or
BAAB, and gives one number: the median over blocks of log(candidate / rival) in CPU time. CPU time, because on a shared
machine the wall clock measures the neighbours.
"""

from __future__ import annotations

import gc
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.blank import blank_result
from assay.core.digest import value_digest
from assay.core.duel import Duel, Launch
from assay.core.job import Job
from assay.core.result import BuildFacts, Result, Stage
from assay.errors import UsageError
from assay.ports import Backend, Engine, Tensor
from assay.stats.blocks import BLOCK_S, block_ratio
from assay.stats.launches import decide
from assay.worker.lower import lower
from assay.worker.samples import golden_of
from assay.worker.stages import Stages

WARM_CALLS = 3
LEAST_CALL_S = 2e-4
"""Shorter calls are repeated until one reading of the clock spans this much: the reading itself costs 0.75 us."""
LEAST_QUADS = 2
BUDGETS = ((1e-3, 0.1), (1e-2, 0.2), (math.inf, 0.6))
"""Seconds of calls up to so many seconds long, and seconds of calling in one launch."""
OWN_THREAD = 0.9
"""Share of the process's CPU time that the calling thread must use for its own clock to be believed."""

Feed = Mapping[str, Tensor]
Make = Callable[[], Engine]


@dataclass
class Seen:
    """One side's calls in one launch."""

    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)


def duel(job: Job, stages: Stages) -> Result:
    """Raises UsageError where the two do not take the same inputs."""
    assert job.rival is not None
    if job.rival.trouble:
        return msgspec.structs.replace(blank_result(job), duel=Duel(job.rival.name, trouble=job.rival.trouble))
    sample = golden_of(job).inputs[:1]
    own = lower(job, stages)
    # A transform may change the type of an input; both sides are fed what the candidate takes.
    feed = own.rewritten.fed(sample)[0]
    rival_job = msgspec.structs.replace(
        job, flow=job.rival.flow, case=msgspec.structs.replace(job.case, model=job.rival.model)
    )
    rival_backend, rival_folder = _rival(rival_job, stages)

    def make_own() -> Engine:
        return own.backend.load(own.folder, job.flow)

    def make_rival() -> Engine:
        return rival_backend.load(rival_folder, rival_job.flow)

    with stages.enter(Stage.LOAD):
        facts, other = _facts(make_own, feed), _facts(make_rival, feed)
    with stages.enter(Stage.MEASURE):
        seen = fight(make_own, make_rival, feed, job)
    first = next(iter(feed.values()), None)
    batch = int(first.shape[0]) if first is not None and first.ndim else 1
    return msgspec.structs.replace(
        blank_result(job),
        duel=msgspec.structs.replace(seen, rival=job.rival.name, batch=batch),
        facts=msgspec.structs.replace(facts, artifact_bytes=own.artifact_bytes, artifact_digest=own.artifact_digest),
        rival_facts=other,
    )


def _rival(job: Job, stages: Stages) -> tuple[Backend, Path]:
    assert job.rival is not None
    if not job.rival.artifact:
        lowered = lower(job, stages)
        return lowered.backend, lowered.folder
    with stages.enter(Stage.IMPORT):
        backend: Backend = plugins.load("assay.backends", job.flow.backend)()
        backend.prepare()
    return backend, Path(job.rival.artifact)


def _facts(make: Make, feed: Feed) -> BuildFacts:
    """Also the first look at whether it runs at all on these inputs."""
    engine = make()
    try:
        engine.run(feed)
    except ValueError as error:
        raise UsageError(f"the two engines do not take the same inputs: {error}") from error
    return engine.facts()


def fight(own: Make, rival: Make, feed: Feed, job: Job) -> Duel:
    """Launches until the rule decides, or its last look is past."""
    rule = job.speed
    chance = random.Random(value_digest((job.case, job.flow, job.rival)) + str(time.time_ns()))
    launches: list[Launch] = []
    own_s: list[float] = []
    rival_s: list[float] = []
    clock = ""
    gc.disable()
    try:
        while len(launches) < rule.looks[-1]:
            clock, launch, mine, theirs = _launch(own, rival, feed, clock, chance)
            launches.append(launch)
            own_s.append(mine)
            rival_s.append(theirs)
            gc.collect()
            if len(launches) in rule.looks and decide([one.cpu for one in launches], rule).word != "inconclusive":
                break
    finally:
        gc.enable()
    return Duel("", tuple(launches), clock, statistics.median(own_s), statistics.median(rival_s))


def _launch(own: Make, rival: Make, feed: Feed, clock: str, chance: random.Random) -> tuple[str, Launch, float, float]:
    engines: dict[str, Engine] = {}
    load_s: dict[str, float] = {}
    padding = []
    for name, make in chance.sample([("own", own), ("rival", rival)], 2):
        padding.append(bytearray(chance.randrange(1, 1 << 18)))
        begin = time.perf_counter()
        engines[name] = make()
        load_s[name] = time.perf_counter() - begin
    calls = {name: _call(engine, feed) for name, engine in engines.items()}
    clock, repeats, budget_s = _warm(calls, clock)
    now = time.thread_time if clock == "thread" else time.process_time
    seen = {"own": Seen(), "rival": Seen()}
    end = time.perf_counter() + budget_s
    quads = 0
    while quads < LEAST_QUADS or time.perf_counter() < end:
        first, second = chance.sample(["own", "rival"], 2)
        for name in (first, second, second, first):
            _timed(calls[name], repeats, now, seen[name])
        quads += 1
    mine, theirs = seen["own"], seen["rival"]
    launch = Launch(
        cpu=_ratio(mine.cpu_s, theirs.cpu_s, clock),
        wall=_ratio(mine.wall_s, theirs.wall_s, clock),
        load=math.log(load_s["own"] / load_s["rival"]),
        quads=quads,
    )
    return clock, launch, statistics.median(mine.cpu_s) / repeats, statistics.median(theirs.cpu_s) / repeats


def _call(engine: Engine, feed: Feed) -> Callable[[], object]:
    run = engine.run
    return lambda: run(feed)


def _warm(calls: Mapping[str, Callable[[], object]], clock: str) -> tuple[str, int, float]:
    """Three calls each; from the last of them the clock, the repeats per reading, and the seconds of this launch."""
    slowest, thread_s, process_s = 0.0, 0.0, 0.0
    for call in calls.values():
        for _ in range(WARM_CALLS - 1):
            call()
        wall, thread, process = time.perf_counter(), time.thread_time(), time.process_time()
        call()
        process_s += time.process_time() - process
        thread_s += time.thread_time() - thread
        slowest = max(slowest, time.perf_counter() - wall)
    clock = clock or ("thread" if thread_s >= OWN_THREAD * process_s else "process")
    budget_s = next(seconds for limit, seconds in BUDGETS if slowest <= limit)
    return clock, max(1, math.ceil(LEAST_CALL_S / max(slowest, 1e-7))), budget_s * (5.0 if clock == "process" else 1.0)


def _timed(call: Callable[[], object], repeats: int, now: Callable[[], float], seen: Seen) -> None:
    begin, cpu = time.perf_counter(), now()
    for _ in range(repeats):
        call()
    seen.cpu_s.append(now() - cpu)
    seen.wall_s.append(time.perf_counter() - begin)


def _ratio(mine: list[float], theirs: list[float], clock: str) -> float:
    ratio = block_ratio(mine, theirs, BLOCK_S[clock], sums=clock == "process")
    if ratio is None:
        raise UsageError("the CPU clock of this machine does not advance: nothing can be compared on it")
    return ratio

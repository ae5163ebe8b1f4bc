"""Launches of two engines in one process, until the rule has its answer or the time is up.

Each launch loads both engines again, in random order (every second one in that of the one before it turned round) and with
random padding in memory, calls them in quadruples ABBA or BAAB, and gives one number: the middle of log(candidate / rival) in
CPU time over pairs of turns. CPU time, because on a shared machine the wall clock measures the neighbours; it also says how
long a launch is, so that busy neighbours make it last longer and not see less. Engines of a device that tells its own
time are compared by that.
"""

from __future__ import annotations

import gc
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.core.digest import value_digest
from assay.core.flow import Flow, device_of
from assay.core.job import CompareSpeedJob
from assay.core.speed import PairedRun, SpeedComparison, stopped_clock
from assay.ports import Engine, Tensor
from assay.stats.paired_ratio import TURN_S, paired_ratio
from assay.stats.sequential_test import is_decided
from assay.worker.timing.bound_call import Call
from assay.worker.timing.gpu_clock import calls_of, device_time
from assay.worker.timing.scheduler_clock import running_time

WARM_CALLS = 3
LEAST_QUADS = 2
BUDGETS = ((1e-3, 0.1), (1e-2, 0.2), (math.inf, 0.6))
"""Seconds of calls up to so many seconds long, and CPU seconds of calling in one launch."""
LONGER = {"thread": 1.0, "caller": 10.0, "device": 1.0}
"""By clock, so many times as long: threads that wait for one another are more restless, and have to come to rest."""
WAKE_S, REST_S, REST_STEP_S, AT_REST = 0.015, 0.3, 5e-3, 0.2
"""For a pool of threads: of calls before its turn; the longest that it is waited for after its turn, and between two looks; the
share of a core below which it rests."""
CLOCKS = {"thread": time.thread_time, "caller": running_time, "device": device_time}
"""What is compared: CPU time of the calling thread; for engines of several threads the time that passes for it, less what it
had to wait for a core. CPU time of them all counts the spinning of a pool that waits, and other cores in ticks of 4 ms. For
engines of a device what its events tell, or the caller's time where one of the two does not tell it."""
PATIENCE = 8.0
"""Seconds that may pass for the caller in a launch, for each of CPU time: an engine that waits would never use its share. The wait
for a core does not count: a starved launch that was cut short would have seen too little to be believed."""
OWN_THREAD = 0.9
"""Share of the process's CPU time that the calling thread must use for its own clock to be believed."""
TICKS_S = 0.03

Feed = Mapping[str, Tensor]
Make = Callable[[], Engine]


@dataclass
class TurnTimes:
    """One side's calls in one launch."""

    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)


def time_interleaved(
    own: Make, rival: Make, feed: Feed, job: CompareSpeedJob, deadline: float = math.inf
) -> SpeedComparison:
    """Launches until the rule decides, its last look is past, or `deadline` (of time.monotonic) has come."""
    rule = job.rule
    chance = random.Random(value_digest((job.case, job.flow, job.baseline)) + str(time.time_ns()))
    makes = [("own", own), ("rival", rival)]
    launches: list[PairedRun] = []
    walls: list[tuple[float, float]] = []
    clock, out_of_time = usual_clock(job.flow, job.baseline.flow), False
    gc.disable()
    try:
        while len(launches) < rule.looks[-1]:
            makes = makes[::-1] if len(launches) % 2 else chance.sample(makes, 2)
            clock, launch, wall = _paired_run(makes, feed, clock, chance)
            if launch is None:
                return SpeedComparison("", clock=clock, trouble=stopped_clock(clock))
            launches.append(launch)
            walls.append(wall)
            gc.collect()
            if len(launches) in rule.looks and is_decided(launches, rule):
                break
            if time.monotonic() > deadline:
                out_of_time = True
                break
    finally:
        gc.enable()
    own_s, rival_s = (
        statistics.median(seconds) for seconds in zip(*((e.own_s, e.rival_s) for e in launches), strict=True)
    )
    own_wall_s, rival_wall_s = (statistics.median(seconds) for seconds in zip(*walls, strict=True))
    return SpeedComparison(
        "",
        tuple(launches),
        clock,
        own_s,
        rival_s,
        own_wall_s=own_wall_s,
        rival_wall_s=rival_wall_s,
        out_of_time=out_of_time,
    )


def usual_clock(*flows: Flow) -> str:
    """The caller's where an engine computes on another device than the CPU, whose work no CPU time shows; "" where the calls
    themselves have to tell."""
    return "caller" if any(device_of(flow) != "cpu" for flow in flows) else ""


def _paired_run(
    makes: Sequence[tuple[str, Make]], feed: Feed, clock: str, chance: random.Random
) -> tuple[str, PairedRun | None, tuple[float, float]]:
    engines: dict[str, Engine] = {}
    load_s: dict[str, float] = {}
    padding = []
    for name, make in makes:
        padding.append(bytearray(chance.randrange(1, 1 << 18)))
        begin = running_time()
        engines[name] = make()
        load_s[name] = running_time() - begin
    engine_calls, clock = calls_of(tuple(engines.values()), feed, clock)
    calls = dict(zip(engines, engine_calls, strict=True))
    clock, usual_s = warm_up(engine_calls, clock)
    repeats = repeats_of(usual_s, clock)
    now = CLOCKS[clock]
    times = {"own": TurnTimes(), "rival": TurnTimes()}
    share = TimeBudget(budget_of(usual_s, clock), now)
    quads = 0
    while quads < LEAST_QUADS or share.left():
        first, second = chance.sample(["own", "rival"], 2)
        for name in (first, second, second, first):
            time_turn(calls[name], repeats, clock, times[name])
        quads += 1
    mine, theirs = times["own"], times["rival"]
    cpu, wall = paired_ratio(mine.cpu_s, theirs.cpu_s), paired_ratio(mine.wall_s, theirs.wall_s)
    walls = (statistics.median(mine.wall_s), statistics.median(theirs.wall_s))
    if cpu is None or wall is None:
        return clock, None, walls
    medians = statistics.median(mine.cpu_s), statistics.median(theirs.cpu_s)
    load = paired_ratio([load_s["own"]], [load_s["rival"]])
    return clock, PairedRun(cpu, wall, load or 0.0, quads, *medians, makes[0][0] == "own"), walls


class TimeBudget:
    """CPU time of one launch, `budget_s` of it by the clock `now`; it begins where this is made."""

    def __init__(self, budget_s: float, now: Callable[[], float]) -> None:
        self._now = now
        self._end_s, self._patient_s = now() + budget_s, running_time() + PATIENCE * budget_s

    def left(self) -> bool:
        """Whether there is time for another quadruple."""
        return self._now() < self._end_s and running_time() < self._patient_s


def warm_up(calls: tuple[Call, ...], clock: str = "") -> tuple[str, float]:
    """Three calls each; then the clock (if none is given), and the wall seconds of the slower engine: of each the quicker of the
    last two calls."""
    slowest = 0.0
    for call in calls:
        walls = []
        for _ in range(WARM_CALLS):
            begin = running_time()
            call()
            walls.append(running_time() - begin)
        slowest = max(slowest, min(walls[1:]))
    return clock or _clock_of(calls), slowest


def _clock_of(calls: tuple[Call, ...]) -> str:
    """By calls of more than a few of the ticks in which the kernel counts the work of other cores."""
    thread, process = time.thread_time(), time.process_time()
    for call in calls:
        end = time.perf_counter() + TICKS_S
        while time.perf_counter() < end:
            call()
    thread, process = time.thread_time() - thread, time.process_time() - process
    return "thread" if thread >= OWN_THREAD * process else "caller"


def budget_of(call_s: float, clock: str) -> float:
    """CPU seconds of calling in one launch, for calls of so many seconds."""
    return next(seconds for limit, seconds in BUDGETS if call_s <= limit) * LONGER[clock]


def repeats_of(call_s: float, clock: str) -> int:
    """Calls in one turn, so that it is long beside what reading the clock costs and blurs."""
    return max(1, math.ceil(TURN_S[clock] / max(call_s, 1e-7)))


def time_turn(call: Call, repeats: int, clock: str, times: TurnTimes) -> None:
    """One turn: `repeats` calls between two readings, kept as seconds per call. A pool of threads is woken by others before
    them, until the kernel has spread it over the cores, and at rest again at the end: ONNX Runtime's spins on for tens of
    milliseconds, on a core that the other engine needs."""
    now = CLOCKS[clock]
    if clock == "caller":
        wake_end = time.perf_counter() + WAKE_S
        while time.perf_counter() < wake_end:
            call()
    begin, cpu = running_time(), now()
    for _ in range(repeats):
        call()
    cpu_s, wall_s = now() - cpu, running_time() - begin
    times.cpu_s.append(cpu_s / repeats)
    times.wall_s.append(wall_s / repeats)
    if clock == "caller":
        _rest()


def _rest() -> None:
    end = time.perf_counter() + REST_S
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(REST_STEP_S)
        if time.process_time() - before < AT_REST * REST_STEP_S:
            return

"""One engine of a duel fought by two processes: the two take turns, through two pipes, and never run at once.

The one that leads says whose turn it is; who leads is drawn anew for each launch, so that what leading costs falls on both.
Engines of two environments cannot live in one process, and fresh processes draw everything anew.
"""

from __future__ import annotations

import os
import random
import select
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.blank import blank_result
from assay.core.job import Job
from assay.core.result import Measurement, Result, Stage
from assay.errors import Lowering
from assay.ports import Backend
from assay.worker.duel import BUDGETS, LEAST_CALL_S, LEAST_QUADS, OWN_THREAD, WARM_CALLS
from assay.worker.samples import golden_of
from assay.worker.stages import Stages

PATIENCE_S = 120.0
"""For the other side to load its engine, or to answer."""
GO, DONE, QUIT = b"g", b"d", b"q"


def turns(job: Job, stages: Stages) -> Result:
    """`measurements` holds every call in the order taken, seconds per call; `detail` the clock. Raises Lowering where the
    other side does not answer."""
    assert job.turns is not None
    feed = golden_of(job).inputs[0]
    with stages.enter(Stage.IMPORT):
        backend: Backend = plugins.load("assay.backends", job.flow.backend)()
        backend.prepare()
    padding = bytearray(random.Random(job.turns.seed).randrange(1, 1 << 18))
    with stages.enter(Stage.LOAD):
        engine = backend.load(Path(job.keep), job.flow)
    with stages.enter(Stage.MEASURE), _Line(Path(job.turns.folder), leads=job.turns.leads) as line:
        run = engine.run
        clock, repeats, call_s = _warm(lambda: run(feed))
        side = _Side(lambda: run(feed), clock, repeats)
        if job.turns.leads:
            _lead(side, line, max(call_s, float(line.read_line())), random.Random(job.turns.seed))
        else:
            line.write(f"{call_s!r}\n".encode())
            while line.read(1) == GO:
                side.take()
                line.write(DONE)
    del padding
    measured = Measurement(1, tuple(side.wall_s), tuple(side.cpu_s))
    return msgspec.structs.replace(blank_result(job), measurements=(measured,), facts=engine.facts(), detail=clock)


class _Side:
    def __init__(self, call: Callable[[], object], clock: str, repeats: int) -> None:
        self._call, self._repeats = call, repeats
        self._now = time.thread_time if clock == "thread" else time.process_time
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []

    def take(self) -> None:
        begin, cpu = time.perf_counter(), self._now()
        for _ in range(self._repeats):
            self._call()
        self.cpu_s.append((self._now() - cpu) / self._repeats)
        self.wall_s.append((time.perf_counter() - begin) / self._repeats)


def _lead(side: _Side, line: _Line, call_s: float, chance: random.Random) -> None:
    end = time.perf_counter() + next(seconds for limit, seconds in BUDGETS if call_s <= limit)
    quads = 0
    while quads < LEAST_QUADS or time.perf_counter() < end:
        first = chance.random() < 0.5
        for mine in (first, not first, not first, first):
            if mine:
                side.take()
            else:
                line.write(GO)
                if line.read(1) != DONE:
                    raise Lowering("the other engine of the duel failed in its turn")
        quads += 1
    line.write(QUIT)


def _warm(call: Callable[[], object]) -> tuple[str, int, float]:
    seconds, thread_s, process_s = [], 0.0, 0.0
    for _ in range(WARM_CALLS):
        begin, thread, process = time.perf_counter(), time.thread_time(), time.process_time()
        call()
        process_s, thread_s = time.process_time() - process, time.thread_time() - thread
        seconds.append(time.perf_counter() - begin)
    usual = statistics.median(seconds)
    clock = "thread" if thread_s >= OWN_THREAD * process_s else "process"
    return clock, max(1, round(LEAST_CALL_S / max(usual, 1e-7))), usual


class _Line:
    """Two named pipes in a folder, opened for reading and writing so that neither side waits for the other to open."""

    def __init__(self, folder: Path, *, leads: bool) -> None:
        names = ("to-lead", "to-follow") if leads else ("to-follow", "to-lead")
        self._in, self._out = (os.open(folder / name, os.O_RDWR) for name in names)

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:
            os.write(self._out, QUIT)
        os.close(self._in)
        os.close(self._out)

    def write(self, data: bytes) -> None:
        os.write(self._out, data)

    def read(self, count: int) -> bytes:
        if not select.select([self._in], [], [], PATIENCE_S)[0]:
            raise Lowering(f"the other engine of the duel did not answer within {PATIENCE_S:g} s")
        return os.read(self._in, count)

    def read_line(self) -> bytes:
        found = b""
        while not found.endswith(b"\n"):
            found += self.read(1)
            if found == QUIT:
                raise Lowering("the other engine of the duel failed before its first turn")
        return found

"""One of two engines that are compared in two processes: the two take turns, through two pipes, and never run at once.

The one that leads says whose turn it is; who leads is drawn again for each launch, so that what leading costs falls on both.
Engines of two environments cannot live in one process, and fresh processes draw everything again.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.empty_result import empty_result
from assay.core.job import AlternateJob
from assay.core.measurement import Measurement
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.result import AlternateResult
from assay.errors import InvalidModel, PeerFailed
from assay.models.artifacts import is_as_saved
from assay.ports import Backend, Engine, Tensor
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.inputs.rebatch import batch_of, rebatch
from assay.worker.stages import Stages
from assay.worker.timing.gpu_clock import calls_of
from assay.worker.timing.interleaved_timing import (
    CLOCKS,
    LEAST_QUADS,
    TimeBudget,
    TurnTimes,
    budget_of,
    repeats_of,
    time_turn,
    usual_clock,
    warm_up,
)
from assay.worker.timing.scheduler_clock import running_time
from assay.worker.timing.turn_pipe import DONE, GO, QUIT, TurnPipe


def alternate(job: AlternateJob, stages: Stages) -> AlternateResult:
    """Raises PeerFailed where the other side does not answer."""
    with TurnPipe(Path(job.side.folder), leads=job.side.leads) as line:
        feed = _feed(job)
        with stages.enter(Stage.IMPORT):
            backend: Backend = plugins.load("assay.backends", job.flow.backend)()
            backend.prepare()
        padding = bytearray(random.Random(job.side.seed).randrange(1, 1 << 18))
        with stages.enter(Stage.LOAD):
            if job.side.digest is not None and not is_as_saved(job.artifact_dir, job.side.digest):
                raise InvalidModel(noted(NoteCode.ENGINE_FILES_CHANGED))
            begin = running_time()
            engine = backend.load(Path(job.artifact_dir), job.flow)
            load_s = running_time() - begin
        with stages.enter(Stage.MEASURE):
            side = _Side(engine, feed, usual_clock(job.flow))
            if job.side.leads:
                _lead(side, line, random.Random(job.side.seed))
            else:
                _follow(side, line)
        del padding
    turns = Measurement(batch_of(feed), tuple(side.seen.wall_s), tuple(side.seen.cpu_s))
    return msgspec.structs.replace(
        empty_result(job), turns=turns, load_s=load_s, clock=side.clock, facts=engine.facts()
    )


def _feed(job: AlternateJob) -> dict[str, Tensor]:
    """The first sample, in the types that the candidate takes: a transform may have changed them."""
    takes = json.loads(Path(job.side.takes).read_text()) if job.side.takes else {}
    return TransformedModel(Path(job.case.model.source), takes=takes).fed(
        [rebatch(job, load_golden(job).inputs, job.batch)]
    )[0]


class _Side:
    """This process's engine, warmed up. Both sides use one clock and turns of one length: the leader says which."""

    def __init__(self, engine: Engine, feed: dict[str, Tensor], clock: str) -> None:
        (self._call,), clock = calls_of([engine], feed, clock)
        self.clock, self.usual_s = warm_up((self._call,), clock)
        self.repeats = repeats_of(self.usual_s, self.clock)
        self.seen = TurnTimes()

    def agree(self, clock: str, usual_s: float) -> None:
        """One clock, the blunt one where they differ, and the longer call are for both."""
        self.clock = clock if clock == self.clock else "caller"
        self.usual_s = max(self.usual_s, usual_s)
        self.repeats = repeats_of(self.usual_s, self.clock)

    def take(self) -> None:
        """One turn."""
        time_turn(self._call, self.repeats, self.clock, self.seen)

    def share(self) -> TimeBudget:
        """Of this side alone: half of a launch's time."""
        return TimeBudget(budget_of(self.usual_s, self.clock) / 2.0, CLOCKS[self.clock])


def _lead(side: _Side, line: TurnPipe, chance: random.Random) -> None:
    clock, usual = line.read_line().split()
    side.agree(clock, float(usual))
    line.write(f"{side.clock} {side.usual_s!r}\n".encode())
    share = side.share()
    quads = 0
    while quads < LEAST_QUADS or share.left():
        first = chance.random() < 0.5
        for mine in (first, not first, not first, first):
            if mine:
                side.take()
            else:
                line.write(GO)
                if line.read(1) != DONE:
                    raise PeerFailed(noted(NoteCode.PEER_FAILED))
        quads += 1
    line.write(QUIT)


def _follow(side: _Side, line: TurnPipe) -> None:
    line.write(f"{side.clock} {side.usual_s!r}\n".encode())
    clock, usual = line.read_line().split()
    side.agree(clock, float(usual))
    while (word := line.read(1)) == GO:
        side.take()
        line.write(DONE)
    if word != QUIT:
        raise PeerFailed(noted(NoteCode.PEER_FAILED))

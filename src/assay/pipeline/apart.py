"""A duel of two processes, for engines that cannot live in one: a fresh pair for every launch, taking turns."""

from __future__ import annotations

import os
import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.core.blank import blank_result
from assay.core.duel import Duel, Launch, Turns
from assay.core.job import Job, Measuring, Task
from assay.core.result import Outcome, Result, Stage
from assay.pipeline.house import House
from assay.stats.blocks import BLOCK_S, block_ratio
from assay.stats.launches import decide

_BUILD = Measuring(seconds=0.01, warmup_s=0.1)


@dataclass(frozen=True)
class Duels:
    """A launcher of duels: in one worker where the engines can share one."""

    house: House

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """See `ports.Launcher`; one after another, measuring is alone."""
        together = [job for job in jobs if not apart(job)]
        if together:
            yield from self.house.alone.launch(together)
        for job in jobs:
            if apart(job):
                yield fight_apart(job, self.house)


def apart(job: Job) -> bool:
    """Whether the two engines of this duel need processes of their own."""
    return job.rival is not None and not job.rival.trouble and job.rival.flow.environment != job.flow.environment


def fight_apart(job: Job, house: House) -> Result:
    """Exactly one result, as of a duel in one worker."""
    assert job.rival is not None
    Path(job.scratch).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="duel-", dir=job.scratch) as name:
        folder = Path(name)
        rival = msgspec.structs.replace(
            job, flow=job.rival.flow, case=msgspec.structs.replace(job.case, model=job.rival.model), rival=None
        )
        own = msgspec.structs.replace(job, rival=None)
        built = []
        for side, one in (("own", own), ("rival", rival)):
            if side == "rival" and job.rival.artifact:
                built.append(blank_result(one))
                continue
            asked = msgspec.structs.replace(
                one, task=Task.MEASURE, measuring=_BUILD, keep=str(folder / side), limits=job.limits
            )
            (found,) = house.alone.launch([asked])
            if found.outcome is not Outcome.OK:
                return _failed(job, found)
            built.append(found)
        artifacts = (str(folder / "own"), job.rival.artifact or str(folder / "rival"))
        # Both sides are fed the candidate's inputs.
        other = msgspec.structs.replace(own, flow=rival.flow)
        return _fight(job, own, other, artifacts, built, folder, house)


def _fight(
    job: Job, own: Job, rival: Job, artifacts: tuple[str, str], built: list[Result], folder: Path, house: House
) -> Result:
    assert job.rival is not None
    launches: list[Launch] = []
    medians: list[tuple[float, float]] = []
    clock = ""
    chance = random.Random()
    while len(launches) < job.speed.looks[-1]:
        pair = _pair(own, rival, artifacts, folder / f"launch-{len(launches)}", chance)
        found = {result.job_key: result for result in house.pair.launch(pair)}
        mine, theirs = (found[one.key] for one in sorted(pair, key=lambda one: one.case.name))
        for result in (mine, theirs):
            if result.outcome is not Outcome.OK:
                return _failed(job, result)
        launch = _launch(mine, theirs)
        if launch is None:
            return _failed(job, blank_result(job, Outcome.ERROR), "the CPU clock of this machine does not advance")
        launches.append(launch)
        medians.append((statistics.median(mine.measurements[0].cpu_s), statistics.median(theirs.measurements[0].cpu_s)))
        clock = mine.detail
        if len(launches) in job.speed.looks and decide([one.cpu for one in launches], job.speed).word != "inconclusive":
            break
    own_s, rival_s = (statistics.median(one) for one in zip(*medians, strict=True))
    return msgspec.structs.replace(
        blank_result(job),
        stage=Stage.MEASURE,
        duel=Duel(job.rival.name, tuple(launches), clock, own_s, rival_s, 1, processes=2),
        facts=built[0].facts,
        rival_facts=built[1].facts,
        versions=built[0].versions,
    )


def _pair(own: Job, rival: Job, artifacts: tuple[str, str], folder: Path, chance: random.Random) -> list[Job]:
    """The two jobs of one launch, in random order, one of them leading. Their names sort own before rival."""
    folder.mkdir()
    for name in ("to-lead", "to-follow"):
        os.mkfifo(folder / name)
    seed, own_leads = chance.randrange(1 << 30), chance.random() < 0.5
    sides = zip(("a", "b"), (own, rival), artifacts, (own_leads, not own_leads), strict=True)
    jobs = [
        msgspec.structs.replace(
            job,
            case=msgspec.structs.replace(job.case, name=f"{letter}/{job.case.name}"),
            task=Task.TURNS,
            keep=artifact,
            turns=Turns(str(folder), seed, leads),
        )
        for letter, job, artifact, leads in sides
    ]
    return chance.sample(jobs, 2)


def _launch(mine: Result, theirs: Result) -> Launch | None:
    ours, others = mine.measurements[0], theirs.measurements[0]
    quads = min(len(ours.cpu_s), len(others.cpu_s)) // 2
    block_s, sums = BLOCK_S[mine.detail], "process" in (mine.detail, theirs.detail)
    cpu = block_ratio(ours.cpu_s[: 2 * quads], others.cpu_s[: 2 * quads], block_s, sums=sums)
    wall = block_ratio(ours.wall_s[: 2 * quads], others.wall_s[: 2 * quads], block_s)
    load = block_ratio([_load_s(mine)] * 2, [_load_s(theirs)] * 2, 1.0)
    return None if cpu is None or wall is None else Launch(cpu, wall, load or 0.0, quads)


def _load_s(result: Result) -> float:
    return sum(one.seconds for one in result.stage_times if one.stage is Stage.LOAD)


def _failed(job: Job, side: Result, why: str = "") -> Result:
    """What went wrong on one side is the outcome of the duel; whose side it was is said."""
    return msgspec.structs.replace(
        blank_result(job, side.outcome),
        stage=side.stage,
        cause=side.cause,
        detail=why or f"{side.flow}: {side.detail}",
        node=side.node,
        signal=side.signal,
        log=side.log,
    )

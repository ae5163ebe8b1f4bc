"""Random misbehaviour at random moments: what a fuzzer of the wall between driver and worker asks for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.testing.act_checks import INNOCENT, STAGES, ActJob, act_job
from assay.testing.acts import ACTS

LATEST_S = 1.0
"""After the stage in which a thread was started that misbehaves later: the job has ended by then, or not."""
SLOW = frozenset(name for name, act in ACTS.items() if act.outcome in (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY))
"""They take as long as their limits allow."""


def random_acts(
    count: int, share: float, model: Model, golden: Path, *, seed: int, acts: Sequence[str] = tuple(ACTS)
) -> list[ActJob]:
    """So many jobs, of which that share misbehaves: any act, in any stage (importing included), at once, when its answer is freed
    (while it is compared), or later from a thread (then or between two jobs)."""
    chance = random.Random(seed)
    jobs: list[ActJob] = []
    for place in range(count):
        if chance.random() >= share:
            jobs.append(act_job(f"{INNOCENT}-{seed}-{place}", model, golden))
            continue
        act, when = chance.choice(acts), chance.choice(("now", "now", "freed", "later"))
        stage = Stage.RUN if when == "freed" else chance.choice(STAGES if when == "now" else STAGES[1:])
        after_s = chance.choice((0.0, 0.003, 0.03, LATEST_S * chance.random()))
        name = f"{act}-{stage.value}-{when}-{seed}-{place}"
        jobs.append(act_job(name, model, golden, act, stage, when=when, after_s=after_s))
    return jobs

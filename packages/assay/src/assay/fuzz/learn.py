"""Which operators does a backend compile together? Asked before a session, of pairs that are made, compiled and looked into."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.core.digest import sha256_bytes
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.result import ScreenResult
from assay.errors import UsageError
from assay.fuzz.corpus import Arm, Corpus, Session
from assay.fuzz.next_cases import reached, screen_job
from assay.pipeline.adapters import Services

PAIRS = "operator-pairs"
"""The generator that makes them."""


def learn(flows: Sequence[Flow], corpus: Corpus, session: Session, services: Services, seconds: float) -> int:
    """So many seconds for each flow; how many pairs were learned. The session draws from them from now on. Raises UsageError where it has
    cases already: those would be others."""
    if any(arm.next for arm in session.arms.values()):
        raise UsageError(
            f"the corpus {corpus.folder} has cases that were made before anything was learned; give another folder with --corpus"
        )
    pairs: dict[str, set[str]] = {}
    for flow in flows:
        arm = session.arms[Arm(PAIRS, 0, flow.name).name]
        first, left = 0, seconds
        while left > 0:
            job = replace(screen_job(replace(arm, next=first), flow, corpus, session, left), learn=True)
            Path(job.progress).unlink(missing_ok=True)
            result = services.jobs.complete(services.jobs.run(job))
            left -= max(result.seconds, 1.0)
            ended = None if result.outcome is Outcome.OK else reached(job)
            first = result.done if ended is None and isinstance(result, ScreenResult) else (ended or first) + 1
            if ended is not None and ended > job.first and left > 0:  # what was seen before it was lost with it
                result = services.jobs.complete(services.jobs.run(replace(job, count=ended - job.first, seconds=left)))
                left -= max(result.seconds, 1.0)
            for before, after in result.rewritten if isinstance(result, ScreenResult) else ():
                pairs.setdefault(before, set()).add(after)
    kept = msgspec.json.encode({before: sorted(after) for before, after in sorted(pairs.items())})
    corpus.learned.parent.mkdir(parents=True, exist_ok=True)
    corpus.learned.write_bytes(kept)
    session.learned = sha256_bytes(kept)[:16]
    return sum(len(after) for after in pairs.values())

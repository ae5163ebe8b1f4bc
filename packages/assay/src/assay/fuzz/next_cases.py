"""The job in which an arm screens its next cases, and how far it came."""

from __future__ import annotations

from pathlib import Path

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import ScreenJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.fuzz.corpus import Arm, Corpus, Session

MOST = 100_000
HANG_S = 60.0
"""A case that takes longer is taken for one that does not end."""


def screen_job(arm: Arm, flow: Flow, corpus: Corpus, session: Session, seconds: float) -> ScreenJob:
    """The next cases of that arm."""
    place = corpus.folder.absolute() / "progress"
    place.mkdir(parents=True, exist_ok=True)
    return ScreenJob(
        case=Case("fuzz", Model(name="fuzz", source="", digest="")),
        flow=flow,
        limits=Limits(timeout_s=HANG_S + seconds),
        generator=arm.generator,
        version=arm.version,
        seed=session.seed,
        first=arm.next,
        count=MOST,
        seconds=seconds,
        corpus=str(corpus.suspects(flow.name).absolute()),
        progress=str(place / f"{arm.generator}-{arm.flow}".replace("/", "-")),
        near=corpus.near_of(session),
        learned=corpus.learned_of(session),
    )


def reached(job: ScreenJob) -> int:
    """The index that was under way when the worker ended."""
    try:
        return int(Path(job.progress).read_text())
    except (OSError, ValueError):
        return job.first

"""An engine is lowered once, though it is judged twice: what a coarse tolerance leaves open is left for the job that asks again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.digest import value_digest
from assay.core.engine_info import EngineInfo
from assay.core.job import Job, JobKind
from assay.models.artifacts import Artifacts, CachedArtifact
from assay.worker.engine.apply_transforms import TransformedModel


def leave(job: Job, folder: Path, rewritten: TransformedModel, built: EngineInfo, warnings: Sequence[str]) -> None:
    """A copy of the engine in `job.keep`, which the run removes; "" leaves none. Nothing happens where it is large."""
    if not job.keep or find(job) is not None:
        return
    entry = CachedArtifact(
        _key(job),
        job.case.name,
        job.flow.name,
        built,
        rewritten.changed,
        rewritten.takes,
        rewritten.gives,
        warnings=tuple(warnings),
    )
    Artifacts(job.keep).keep(entry, folder, rewritten.standard)


def find(job: Job) -> CachedArtifact | None:
    """What the same job of this run left before."""
    if not job.keep or job.task is not JobKind.VERIFY:
        return None
    return Artifacts(job.keep).find(_key(job))


def opened(job: Job, left: CachedArtifact) -> tuple[Path, TransformedModel]:
    """The folder to load from, and what the transforms had done: without the model that they gave."""
    known = Artifacts(job.keep)
    standard = known.standard(left)
    changed = TransformedModel(
        Path(), left.facts.transforms, standard, left.changed, dict(left.takes), dict(left.gives)
    )
    return known.files(left), changed


def _key(job: Job) -> str:
    return value_digest((job.key, job.flow.options))

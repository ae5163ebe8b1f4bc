"""An engine is lowered once, though it is judged twice: what a coarse tolerance leaves open is left for the job that asks again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.digest import value_digest
from assay.core.engine_info import EngineInfo
from assay.core.job import VerifyJob
from assay.core.native_warning import NativeWarning
from assay.core.note import Note
from assay.models.artifacts import Artifacts, CachedArtifact
from assay.worker.engine.transformed_model import TransformedModel


def leave(
    job: VerifyJob,
    folder: Path,
    rewritten: TransformedModel,
    built: EngineInfo,
    notes: Sequence[Note],
    native_warnings: tuple[NativeWarning, ...] = (),
) -> None:
    """A copy of the engine in `job.artifact_dir`, which the run removes; "" leaves none. Nothing happens where it is large."""
    if not job.artifact_dir or find(job) is not None:
        return
    entry = CachedArtifact(
        _key(job),
        job.case.name,
        job.flow.name,
        built,
        rewritten.changed,
        rewritten.takes,
        rewritten.gives,
        notes=tuple(notes),
        native_warnings=native_warnings,
    )
    Artifacts(job.artifact_dir).keep(entry, folder, rewritten.standard)


def find(job: VerifyJob) -> CachedArtifact | None:
    """What the same job of this run left before."""
    if not job.artifact_dir:
        return None
    return Artifacts(job.artifact_dir).find(_key(job))


def opened(job: VerifyJob, left: CachedArtifact) -> tuple[Path, TransformedModel]:
    """The folder to load from, and what the transforms had done: without the model that they gave."""
    known = Artifacts(job.artifact_dir)
    standard = known.standard(left)
    changed = TransformedModel(
        Path(), left.facts.transforms, standard, left.changed, dict(left.takes), dict(left.gives)
    )
    return known.files(left), changed


def _key(job: VerifyJob) -> str:
    return value_digest((job.key, job.flow.options))

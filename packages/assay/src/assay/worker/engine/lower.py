"""import -> transform -> lower -> save -> load: what verifying and measuring have in common."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from assay import plugins
from assay.core.engine_info import EngineInfo, Sparsity
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import EngineJob
from assay.core.native_warning import NativeWarning
from assay.core.note import Note, NoteCode, NoteWarning, noted
from assay.core.outcome import Stage
from assay.errors import NotRunnable, Unsupported
from assay.models.files import folder_digest
from assay.models.import_without_gc import import_without_gc
from assay.models.weight_sparsity import weight_sparsity
from assay.ports import Backend, BuiltForSizes, Engine, prepare_to_load
from assay.worker.engine import artifact_cache, handover
from assay.worker.engine.apply_transforms import apply_transforms
from assay.worker.engine.capture_warnings import capture_warnings
from assay.worker.engine.model_format import model_path, to_format
from assay.worker.engine.refused_models import lower_as_given, refused_valid_models
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.sample_sizes import sample_sizes
from assay.worker.scratch_dir import artifact_folder
from assay.worker.stages import Stages


@dataclass(frozen=True)
class Lowered:
    """The engine as it would be deployed: loaded again from what was saved."""

    backend: Backend
    folder: Path
    artifact_bytes: int
    artifact_digest: str
    rewritten: TransformedModel
    reused: str = ""
    notes: tuple[Note, ...] = ()
    """What was noted while it was lowered, where another job may ask for it again."""
    warned: tuple[NativeWarning, ...] = ()
    """What the library warned of, there too."""
    nodes: int = 0
    sparsity: Sparsity | None = None
    """Of the weights that the backend was given."""

    def facts(self, engine: Engine) -> EngineInfo:
        """The engine's own facts, what the artifact weighs, and the transforms that came before."""
        return msgspec.structs.replace(
            engine.facts(),
            artifact_bytes=self.artifact_bytes,
            artifact_digest=self.artifact_digest,
            transforms=self.rewritten.applied,
            reused=self.reused,
            nodes=self.nodes,
            sparsity=self.sparsity,
        )

    def given_model(self, job: EngineJob) -> Path:
        """An artifact of an earlier run or job comes without its model after all transforms: then as quantized, or the case's own."""
        if self.rewritten.model.name:
            return self.rewritten.model
        return self.rewritten.standard or model_path(job, self.backend.accepts)


def lower(job: EngineJob, stages: Stages) -> Lowered:
    """Raises what the backend raises. The artifact lies in a folder of its own below `job.scratch`, or in the cache where
    the job asks for one that is there already. What was refused before is refused at once, where the job asks for that."""
    nodes = job.case.model.nodes
    with stages.enter(Stage.IMPORT), import_without_gc():
        backend: Backend = backend_class(job.flow.backend)()
        job = msgspec.structs.replace(job, flow=_sized(job, backend))
        # Before anything is imported: libraries set variables of their own.
        left = handover.find(job) if isinstance(job, VerifyJob) else None
        key, kept = artifact_cache.look_up(job, backend) if left is None else ("", left)
        if kept is None:
            backend.prepare()
        elif kept.refusal is None:
            prepare_to_load(backend)
    if left is not None and isinstance(job, VerifyJob):
        for note in left.notes:
            warnings.warn(NoteWarning(note), stacklevel=2)
        stages.built, stages.warned = left.facts, left.native_warnings
        folder, changed = handover.opened(job, left)
        known = left.facts
        return Lowered(
            backend, folder, known.artifact_bytes, known.artifact_digest, changed, nodes=nodes, sparsity=known.sparsity
        )
    if kept is not None:
        if kept.refusal is not None:
            artifact_cache.raise_cached_failure(key, kept, kept.refusal, stages)
        stages.warned += kept.native_warnings
        folder, changed, stages.built = artifact_cache.reusable(kept)
        known = kept.facts
        return Lowered(
            backend,
            folder,
            known.artifact_bytes,
            known.artifact_digest,
            changed,
            key,
            nodes=nodes,
            sparsity=known.sparsity,
        )
    if not key:
        if not (isinstance(job, VerifyJob) and job.artifact_dir):
            return _lower(job, backend, stages)
        with capture_warnings(backend, stages) as captured:
            lowered = _lower(job, backend, stages)
        return replace(lowered, notes=tuple(captured.notes), warned=captured.native)
    with capture_warnings(backend, stages) as captured, artifact_cache.keep_failures(key, job, stages):
        lowered = _lower(job, backend, stages)
    artifact_cache.store(key, job, lowered.folder, lowered.rewritten, stages.built, captured)
    return replace(lowered, notes=tuple(captured.notes), warned=captured.native)


def _lower(job: EngineJob, backend: Backend, stages: Stages) -> Lowered:
    changed = to_format(apply_transforms(job, model_path(job, backend.accepts), stages), backend.accepts, job, stages)
    with stages.enter(Stage.LOWER), refused_valid_models(changed.model):
        engine = lower_as_given(backend, changed.model, job)
    with stages.enter(Stage.SAVE):
        folder = artifact_folder(job.scratch)
        engine.save(folder)
        lowered = Lowered(
            backend,
            folder,
            *folder_digest(folder),
            rewritten=changed,
            nodes=job.case.model.nodes,
            sparsity=_sparsity(changed, job),
        )
        stages.built = lowered.facts(engine)
        del engine
    return lowered


def _sparsity(changed: TransformedModel, job: EngineJob) -> Sparsity | None:
    """Of the model as the backend was given it. A program holds the weights of the file that it was made of, unless a transform
    changed them; of other programs it is not known."""
    if changed.model.suffix == ".onnx" or changed.applied:
        return weight_sparsity(changed.model)
    return weight_sparsity(Path(job.case.model.source))


def _sized(job: EngineJob, backend: Backend) -> Flow:
    """With what is known of the sizes of symbolic dimensions: part of what decides the artifact."""
    fed = sample_sizes(job) if isinstance(backend, BuiltForSizes) and backend.needs_sizes else {}
    return msgspec.structs.replace(job.flow, dims=job.case.inputs.dims, sample_sizes=fed)


@cache
def backend_class(name: str) -> Any:
    """The class of that name. Raises Unavailable for one that is not known here."""
    # Kept: looking through the entry points of a large environment takes 5 ms, a small case 2.
    return plugins.load("assay.backends", name)


def rewritten(job: EngineJob, stages: Stages) -> Path:
    """The model after the transforms of the flow, in their order."""
    return apply_transforms(job, model_path(job, backend_class(job.flow.backend).accepts), stages).model


def load(lowered: Lowered, job: EngineJob, stages: Stages) -> Engine:
    """The saved engine, loaded: this is the one that is run."""
    with stages.enter(Stage.LOAD):
        try:
            return lowered.backend.load(lowered.folder, job.flow)
        except (NotRunnable, Unsupported):
            raise
        except Exception:
            if lowered.reused:
                artifact_cache.evict(lowered.reused)
            raise


def delegation(facts: EngineInfo) -> Note | None:
    """Why the outcome is `undelegated`: nothing at all went to the delegate. None where that cannot be said."""
    if facts.delegated != 0:
        return None
    return noted(NoteCode.NOTHING_DELEGATED, operators=tuple(sorted(set(facts.undelegated))[:5]))

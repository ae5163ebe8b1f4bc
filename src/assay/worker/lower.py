"""import -> transform -> lower -> save -> load: what verifying and measuring have in common."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.job import Job
from assay.core.result import BuildFacts, Stage
from assay.models.files import file_digest
from assay.ports import Backend, Engine, Transform
from assay.worker.stages import Stages


@dataclass(frozen=True)
class Lowered:
    """The engine as it would be deployed: loaded again from what was saved."""

    backend: Backend
    folder: Path
    artifact_bytes: int
    artifact_digest: str

    def facts(self, engine: Engine) -> BuildFacts:
        """The engine's own facts and what the artifact weighs."""
        return msgspec.structs.replace(
            engine.facts(), artifact_bytes=self.artifact_bytes, artifact_digest=self.artifact_digest
        )


def lower(job: Job, stages: Stages) -> Lowered:
    """Raises what the backend raises. The artifact lies in a folder of its own below `job.scratch`."""
    with stages.enter(Stage.IMPORT):
        backend: Backend = plugins.load("assay.backends", job.flow.backend)()
        backend.prepare()
    model = rewritten(job, stages)
    with stages.enter(Stage.LOWER):
        engine = backend.lower(model, job.flow)
    with stages.enter(Stage.SAVE):
        folder = Path(tempfile.mkdtemp(prefix="artifact-", dir=job.scratch or None))
        engine.save(folder)
        lowered = Lowered(backend, folder, *_weigh(folder))
        stages.built = lowered.facts(engine)
        del engine
    return lowered


def rewritten(job: Job, stages: Stages) -> Path:
    """The model after the transforms of the flow, in their order."""
    model = Path(job.case.model.source)
    for name, _, argument in map(_split, job.flow.transforms):
        with stages.enter(Stage.IMPORT):
            transform = _transform(name)
            transform.prepare()
        with stages.enter(Stage.TRANSFORM):
            own = Path(tempfile.mkdtemp(prefix="transform-", dir=job.scratch or None))
            model = transform.apply(model, own, argument, ())
    return model


def _split(transform: str) -> tuple[str, str, str]:
    return transform.partition(":")


def _transform(name: str) -> Transform:
    transform: Transform = plugins.load("assay.transforms", name)()
    return transform


def load(lowered: Lowered, job: Job, stages: Stages) -> Engine:
    """The saved engine, loaded: this is the one that is run."""
    with stages.enter(Stage.LOAD):
        return lowered.backend.load(lowered.folder, job.flow)


def delegation(facts: BuildFacts) -> str:
    """Why the outcome is `undelegated`: nothing at all went to the delegate. "" where that cannot be said."""
    if facts.delegated != 0:
        return ""
    left = ", ".join(sorted(set(facts.undelegated))[:5])
    return f"nothing was delegated: all operators were left to another device{f' ({left})' if left else ''}"


def _weigh(folder: Path) -> tuple[int, str]:
    """Bytes of all files, and the digest of their digests in the order of their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    total = hashlib.sha256()
    for path in files:
        total.update(f"{path.relative_to(folder)}:{file_digest(path)}\n".encode())
    return sum(path.stat().st_size for path in files), total.hexdigest() if files else ""

"""More inputs for a golden set: those on which a mutant shows that nobody saw before; several sets as one."""

from __future__ import annotations

import dataclasses
import getpass
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.golden import GoldenLock
from assay.core.job import ReferenceJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.errors import UnknownName, UsageError
from assay.models.companion_goldens import companion_of
from assay.models.golden_samples import Sample
from assay.models.goldens import Golden, read_golden, write_golden
from assay.pipeline.adapters import Services
from assay.pipeline.goldens.golden import LOCK, publish
from assay.pipeline.request import ModelRequest
from assay.plugins import find_flow


async def extend(
    model: Model,
    folders: Sequence[Path],
    earlier: Sequence[Path],
    why: str,
    services: Services,
    *,
    limits: Limits,
    workspace: Path,
) -> tuple[Path, GoldenLock]:
    """Append the samples of the goldens `earlier` to the first of the golden sets that has no labels; returns where they lie
    now, and its lock.

    The new outputs come from the flow that produced the old ones (from `reference` where there is no such flow any more);
    the old samples stay as they are. A golden with labels cannot take samples whose truth nobody knows: where all have
    labels, they go to the golden `FOLDER-mutants` beside the first. Raises UsageError without a reason, or where the
    outputs cannot be computed.
    """
    if not why.strip():
        raise UsageError("new inputs need a reason: --add-inputs REASON")
    known = [read_golden(folder) for folder in folders]
    old = next((golden for golden in known if not golden.labels), known[0])
    folder = folders[known.index(old)]
    target = companion_of(folder) if old.labels else folder
    kept = read_golden(target) if (target / LOCK).exists() else None
    fresh = _unknown([read_golden(path) for path in earlier], [*known, *([kept] if kept else [])])
    if not fresh:
        return target, (kept or old).lock
    candidates, recorded, staging = (workspace / name for name in ("new-inputs", "new-outputs", "staging"))
    _write(candidates, model, fresh, replace(old.lock, producer_version=""), why)
    job = ReferenceJob(_case(model, candidates), _producer(old), limits=limits, reference_dir=str(recorded), reason=why)
    result = await services.jobs.run(job)
    if result.outcome is not Outcome.OK:
        ending = f"{result.outcome.value}, {result.detail}"
        raise UsageError(f"flow '{job.flow.name}' did not answer the new inputs: {ending}")
    new = read_golden(recorded)
    lock = replace(old.lock, producer_version=new.lock.producer_version, coarse=new.lock.coarse)
    _write(staging, model, [*([kept] if kept else []), new], lock, why)
    target.mkdir(exist_ok=True)
    return target, publish(staging, target)


def with_goldens(model: ModelRequest, folders: Sequence[Path], workspace: Path) -> ModelRequest:
    """The model with the samples of several golden sets as one, labels apart. Raises BadGolden."""
    if len(folders) < 2:
        return model
    parts = [read_golden(folder) for folder in folders]
    lock = parts[0].lock
    source = Model(lock.model_name, str(model.path), lock.model_digest)
    why = " + ".join(str(folder) for folder in folders)
    _write(workspace / "golden", source, parts, lock, why)
    return dataclasses.replace(
        model,
        inputs=replace(model.inputs, golden=str(workspace / "golden")),
        contract=replace(model.contract, task_metric=None),
    )


def _case(model: Model, golden: Path) -> Case:
    return Case(model.name, model, Inputs(golden=str(golden)))


def _producer(old: Golden) -> Flow:
    try:
        return find_flow(old.lock.producer)
    except UnknownName:
        return find_flow("reference")


def _unknown(goldens: Sequence[Golden], known: Sequence[Golden]) -> list[Golden]:
    """Those of `goldens`, one sample each, whose inputs nobody has yet."""
    identities = {_identity(sample) for golden in known for sample in golden.inputs}
    fresh = []
    for golden in goldens:
        identity = _identity(golden.inputs[0])
        if identity not in identities:
            identities.add(identity)
            fresh.append(golden)
    return fresh


def _identity(sample: Sample) -> tuple[object, ...]:
    return tuple((name, array.shape, array.tobytes()) for name, array in sorted(sample.items()))


def _write(folder: Path, model: Model, parts: Sequence[Golden], lock: GoldenLock, why: str) -> None:
    """Its producer and coarse types are those of `lock`."""
    write_golden(
        folder,
        model=model,
        inputs=[sample for part in parts for sample in part.inputs],
        outputs=[sample for part in parts for sample in part.outputs],
        seed=lock.seed,
        producer=lock.producer,
        producer_version=lock.producer_version,
        who=getpass.getuser(),
        reason=why,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        coarse=lock.coarse,
    )

"""What an engine was fed and what it answered, left where a user asked for it: an .npz, or a golden folder."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from assay.core.dtype import dtype_name
from assay.core.job import VerifyJob
from assay.core.note import NoteCode, noted
from assay.errors import NotWritable, UsageError
from assay.models.goldens import Golden, write_golden
from assay.ports import Tensor

Samples = Sequence[Mapping[str, Tensor]]
NPZ = ".npz"


def save(job: VerifyJob, golden: Golden, actual: Samples, version: str) -> None:
    """Inputs with the reference's answers, and inputs with the engine's, as far as the job asks; an .npz holds the inputs alone, or
    the answers alone. Raises UsageError for what an .npz cannot hold, and NotWritable."""
    lock = golden.lock
    saved = (
        (job.save_inputs, golden.inputs, golden.outputs, lock.producer, lock.producer_version),
        (job.save_outputs, actual, actual, job.flow.name, version),
    )
    for path, content, outputs, producer, by in saved:
        if path.endswith(NPZ):
            _write_npz(Path(path), content)
        elif path:
            write_golden(
                Path(path),
                model=job.case.model,
                inputs=golden.inputs[: len(outputs)],
                outputs=outputs,
                seed=lock.seed,
                producer=producer,
                producer_version=by,
                who=getpass.getuser(),
                reason=f"saved by assay check on {job.flow.name}",
                created_at=datetime.now(UTC).isoformat(timespec="seconds"),
                state=lock.state,
                coarse=lock.coarse,
                sequences=lock.sequences if len(outputs) == lock.samples else (),
            )


def _write_npz(path: Path, samples: Samples) -> None:
    """Each tensor by its name: as it is where there is one sample, else all samples stacked on a first axis."""
    arrays = {name: _stacked(path, name, [sample[name] for sample in samples]) for name in samples[0]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise NotWritable(noted(NoteCode.NOT_WRITTEN, path=str(path), error=error.strerror or "")) from None


def _stacked(path: Path, name: str, tensors: Sequence[Tensor]) -> Tensor:
    arrays = [np.asarray(tensor) for tensor in tensors]
    if len({part.shape for part in arrays}) > 1:
        raise UsageError(noted(NoteCode.SAMPLES_DIFFER, path=str(path), input=name))
    array = arrays[0] if len(arrays) == 1 else np.stack(arrays)
    if dtype_name(array.dtype) == "string":
        return array.astype(str)
    if array.dtype.kind == "V":
        raise UsageError(noted(NoteCode.NOT_IN_NPZ, path=str(path), input=name, dtype=array.dtype.name))
    return array

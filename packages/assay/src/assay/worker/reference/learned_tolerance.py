"""The plain engine that a tolerance is learnt from, where a model has no evaluation in double."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay import plugins
from assay.core.job import DeriveToleranceJob
from assay.core.note import Note, NoteCode, noted
from assay.errors import Lowering
from assay.numerics.load_onnx import load_onnx
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.ports import Backend, Tensors

if TYPE_CHECKING:
    from onnx import ModelProto

BACKEND, PLAIN = "onnxruntime", "onnxruntime-disable"
MOST_BYTES = 1 << 30
"""Of a model that is written and lowered again for every run."""


def learned_tolerance(model: Path, inputs: Sequence[Tensors], job: DeriveToleranceJob, why: Note) -> DerivedTolerance:
    """By ONNX Runtime without its optimizer. Raises Lowering where it is not here or does not run the model either."""

    from assay.numerics.tolerance.simulate.learning import learn

    backend, flow = _plain()
    proto = load_onnx(model)
    if proto.ByteSize() > MOST_BYTES:
        raise Lowering(noted(NoteCode.NOISE_NOT_LEARNT, engine=PLAIN))

    with tempfile.TemporaryDirectory(prefix="learn-", dir=job.scratch or None) as folder:
        file = Path(folder) / "perturbed.onnx"

        def run(changed: ModelProto, fed: Sequence[Tensors], number: int) -> list[dict[str, Any]]:
            file.write_bytes(changed.SerializeToString())
            threads = 1 + number % 2  # how a sum is shared out among threads is noise, too
            engine = backend.lower(file, msgspec.structs.replace(flow, options={**flow.options, "threads": threads}))
            return [engine.run(sample) for sample in fed]

        return learn(
            proto,
            inputs,
            job.precision,
            run,
            engine=PLAIN,
            why=why,
            seed=job.case.inputs.seed,
            allowances=job.allowances,
        )


def _plain() -> tuple[Backend, Any]:
    if BACKEND not in plugins.names(plugins.BACKENDS):
        raise Lowering(noted(NoteCode.NOISE_NOT_LEARNT, engine=PLAIN))
    backend: Backend = plugins.load(plugins.BACKENDS, BACKEND)()
    plain_flow = next((flow for flow in backend.flows if flow.name == PLAIN), None)
    if plain_flow is None or not backend.availability().available:
        raise Lowering(noted(NoteCode.NOISE_NOT_LEARNT, engine=PLAIN))
    backend.prepare()
    return backend, plain_flow

"""The transforms of a flow, one after another, and what each of them did."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from assay import plugins
from assay.core.dtype import dtype_name
from assay.core.engine_info import AppliedTransform
from assay.core.job_base import FlowInputsJob
from assay.core.outcome import Stage
from assay.errors import UsageError
from assay.models.conversion import format_of
from assay.models.files import file_digest
from assay.ports import Transform
from assay.worker.engine.calibration import Calibration, calibration_split
from assay.worker.engine.model_format import convert
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.stages import Stages

QUANTIZED = ("int", "uint", "float8", "float4")
"""How the names of types begin that are no rounding of the model's values but a choice of scales: a model in them is
another model, and the backend is judged by what that one says."""


def apply_transforms(job: FlowInputsJob, model: Path, stages: Stages) -> TransformedModel:
    """`model` after the transforms of the flow, each given the form it reads. Raises what they raise, and UsageError for
    transforms that do not go together."""
    if spec := plugins.contradiction(job.flow):
        with stages.enter(Stage.TRANSFORM):
            raise UsageError(spec)
    applied: list[AppliedTransform] = []
    standard: Path | None = None
    changed = False
    for spec in job.flow.transforms:
        name, _, argument = spec.partition(":")
        with stages.enter(Stage.IMPORT):
            transform: Transform = plugins.load("assay.transforms", name)()
            transform.prepare()
        model, conversion = convert(model, transform.accepts, job, stages)
        applied.extend(conversion)
        with stages.enter(Stage.TRANSFORM):
            calibration = calibration_split(job) if plugins.is_calibrated(spec) else Calibration()
            folder = Path(tempfile.mkdtemp(prefix="transform-", dir=job.scratch or None))
            model = transform.apply(model, folder, argument, calibration.samples)
            applied.append(
                AppliedTransform(
                    transform=spec,
                    version=transform.availability().version,
                    digest=file_digest(model),
                    samples=calibration.indices,
                    seed=calibration.seed,
                )
            )
        changed = changed or bool(transform.precision)
        standard = model if transform.precision.startswith(QUANTIZED) else standard
    takes, gives = _types(model) if changed and format_of(model) == "onnx" else ({}, {})
    return TransformedModel(model, tuple(applied), standard, changed, takes, gives)


def _types(model: Path) -> tuple[dict[str, str], dict[str, str]]:
    import onnx

    graph = onnx.load(model, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    return (
        {value.name: _type(value) for value in graph.input if value.name not in constants},
        {value.name: _type(value) for value in graph.output},
    )


def _type(info: Any) -> str:
    import onnx

    kind = info.type.tensor_type.elem_type
    known = kind not in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING)
    return dtype_name(onnx.helper.tensor_dtype_to_np_dtype(kind)) if known else ""

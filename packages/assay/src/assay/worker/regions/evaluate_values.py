"""Every value of a model, once, in float64: whatever part of it is run alone later is fed from these."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from assay.core.dtype import dtype_name
from assay.core.empty_result import empty_result
from assay.core.job import ValuesJob
from assay.core.outcome import Stage
from assay.core.result import ValuesResult
from assay.numerics.load_onnx import load_onnx
from assay.worker.engine.apply_transforms import apply_transforms
from assay.worker.engine.calibration import evaluation_split
from assay.worker.engine.model_format import convert
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.regions.value_files import declared_dtypes, evaluate, graph_of, require_plain, save_values
from assay.worker.stages import Stages


def evaluate_values(job: ValuesJob, stages: Stages) -> ValuesResult:
    """Raises Lowering where float64 has no code for the model."""

    golden = evaluation_split(job, load_golden(job))
    rewritten = apply_transforms(job, Path(job.case.model.source), stages)
    path, _ = convert(rewritten.model, "onnx", job, stages)
    sample = dict(rewritten.fed(golden.inputs[job.sample : job.sample + 1])[0])
    with stages.enter(Stage.COMPARE):
        model = load_onnx(str(path))
        require_plain(model)
        values = {name: array for name, array in sample.items() if array.dtype != object}
        dtypes = declared_dtypes(model)
        wide = evaluate(model, sample, (name for node in model.graph.node for name in node.output if name))
        if "float64" not in dtypes.values():
            dtypes |= {
                name: "float32" for name, array in wide.items() if array.dtype == "float64" and name not in dtypes
            }
        stored = {
            name: array if array.dtype.kind in "iub" else array.astype("float64") for name, array in values.items()
        }
        own = {name: dtype_name(array.dtype) for name, array in values.items()}
        save_values(Path(job.values_dir), model, wide | stored, {**dtypes, **own})
    return replace(empty_result(job), graph=graph_of(model, {**stored, **wide}, {**dtypes, **own}))

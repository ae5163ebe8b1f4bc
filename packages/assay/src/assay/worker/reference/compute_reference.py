"""Look at a model and its golden, and record reference outputs."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from assay.core.case import Contract
from assay.core.dtype import CONTAINERS, dtype_name, is_floating, numpy_dtype
from assay.core.empty_result import empty_result
from assay.core.golden import REFERENCE
from assay.core.input_plan import InputPlan
from assay.core.job import InspectJob, ReferenceJob
from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import InspectResult, ReferenceResult
from assay.errors import BadGolden, InvalidModel, Lowering, Unsupported
from assay.models.flatten import declared_types
from assay.models.goldens import read_golden, write_golden
from assay.models.input_plan.program_plan import has_bodies
from assay.models.model_precision import coarse_types
from assay.models.onnx_file import InvalidGraph
from assay.models.sources import open_source
from assay.numerics.steps import each_sample
from assay.plugins import library_of
from assay.ports import Tensor
from assay.task_metrics.scoring import score
from assay.worker.engine.lower import load, lower
from assay.worker.engine.model_format import to_onnx
from assay.worker.engine.sequences import run_calls
from assay.worker.inputs.branch_search import BranchSearch
from assay.worker.inputs.input_choice import Samples, chosen
from assay.worker.inputs.load_inputs import Source, check_golden, has_source, load_inputs, take_data
from assay.worker.stages import Stages

EVALUATOR = "reference"


def inspect(job: InspectJob, stages: Stages) -> InspectResult:
    """`InspectResult.model` describes the file, or `findings` refuse it: it is not looked at anywhere else. Raises BadModel for what is
    no ONNX file, BadGolden, and UsageError where the task metric cannot be computed of the golden's own answers."""
    with stages.enter(Stage.LOAD):
        try:
            model = open_source(Path(job.case.model.source))
        except InvalidGraph as error:
            refused = empty_result(job, Outcome.ERROR)
            return msgspec.structs.replace(refused, cause=Cause.INVALID_MODEL, findings=error.findings)
        if job.case.inputs.data is not None:
            take_data(job, model)
        elif job.case.inputs.golden:
            golden = check_golden(Path(job.case.inputs.golden), model)
            # The outputs of an original may have other names than the task is told.
            if golden is not None and job.case.original is None:
                _check_labels(job.case.contract, golden.outputs, golden.labels)
        if job.case.original is not None:
            model = msgspec.structs.replace(model, coarse=coarse_types(Path(job.case.model.source)))
            if job.case.original.golden:
                read_golden(Path(job.case.original.golden))
    return msgspec.structs.replace(empty_result(job), model=model, files=model.files)


def compute_reference(job: ReferenceJob, stages: Stages) -> ReferenceResult:
    """Run the flow (the oracle, mostly) on the inputs and write a golden folder at `job.reference_dir`. Where outputs are fed back,
    each call takes the state that the flow gave in the call before, and is stored with it."""
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)

    def answer(inputs: Samples) -> Samples:
        return [engine.run(sample) for sample in each_sample(lowered.rewritten.fed(inputs))]

    source = Source([])
    plan: InputPlan | None = None
    with stages.enter(Stage.RUN):
        if has_source(job):
            source = load_inputs(job)
            inputs, outputs = run_calls(engine, lowered.rewritten, source, job.case.model)
        else:
            inputs, outputs, plan = chosen(job, answer)
            graph = _graph_of(lowered.rewritten.model, job)
            search = BranchSearch(graph, job.case.model, seed=job.case.inputs.seed)
            inputs, outputs, plan = search.improve(inputs, outputs, plan, answer)
    _check_labels(job.case.contract, outputs, source.labels, library_of(job.flow))
    with stages.enter(Stage.SAVE):
        facts = lowered.facts(engine)
        outputs = _of_model_types(outputs, job) if job.reason else outputs
        write_golden(
            Path(job.reference_dir),
            model=job.case.model,
            inputs=inputs,
            outputs=outputs,
            labels=source.labels,
            state=source.state,
            sequences=source.sequences,
            seed=job.case.inputs.seed,
            producer=job.flow.name,
            library=library_of(job.flow),
            producer_version=facts.backend_version,
            who=getpass.getuser(),
            reason=job.reason or REFERENCE,
            kept=bool(job.reason),
            refusals=job.refusals_before,
            coarse=coarse_types(Path(job.case.model.source)) if job.reason else msgspec.UNSET,
            plan=plan,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    return msgspec.structs.replace(empty_result(job), facts=facts)


def _check_labels(contract: Contract, outputs: Samples, labels: Mapping[str, Tensor], library: str = EVALUATOR) -> None:
    """Before an engine is asked: raises UsageError where the task metric cannot be computed of the reference's own answers. Those of a
    runtime in its place may be what is wrong."""
    if contract.task_metric is not None and library == EVALUATOR:
        labelled = outputs[: len(next(iter(labels.values())))] if labels else outputs
        score(contract.task_metric, labelled, labelled, labels, contract.task_metric_options)


def _graph_of(model: Path, job: ReferenceJob) -> Path | None:
    """As an ONNX graph, in which branches are found; of a program only where it has bodies of its own, for that takes long."""
    if model.suffix == ".onnx":
        return model
    if job.case.model.format != "torch" or not has_bodies(job.case.model):
        return None
    try:
        return to_onnx(Path(job.case.model.source), job)
    except (Lowering, Unsupported, InvalidModel):
        return None  # Whoever needs the graph says why there is none.


def _of_model_types(answers: Samples, job: ReferenceJob) -> Samples:
    names = dict.fromkeys(name for sample in answers for name in sample)
    types = declared_types(job.case.model.outputs, names).items()
    declared = {name: dtype for name, dtype in types if dtype not in CONTAINERS}
    return [_as_declared(answer, declared, job.flow.name) for answer in answers]


def _as_declared(answer: dict[str, Tensor], declared: dict[str, str], flow: str) -> dict[str, Tensor]:
    """A golden is of the model's types: flows in double or in a half precision answer in their own. Raises BadGolden for what is
    no rounding."""
    return {name: _rounded(array, name, declared.get(name, ""), flow) for name, array in answer.items()}


def _rounded(array: Tensor, name: str, declared: str, flow: str) -> Tensor:
    dtype = dtype_name(array.dtype)
    if dtype == declared or not declared:
        return array
    if not (is_floating(dtype) and is_floating(declared)):
        raise BadGolden(noted(NoteCode.GOLDEN_TYPE, output=name, given=dtype, declared=declared, flow=flow))
    with np.errstate(over="ignore"):
        return array.astype(numpy_dtype(declared))

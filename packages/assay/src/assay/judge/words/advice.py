"""What would decide what is not proven: one sentence with a command that can be copied, for each way of proving nothing."""

from __future__ import annotations

import shlex

import msgspec

from assay.core.case import Case
from assay.core.evidence import blocking, is_drawn
from assay.core.finding import FindingCode
from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Cause, Outcome
from assay.core.reference import Reference, ReferenceKind
from assay.core.result import ChangeResult, Result, VerifyResult
from assay.core.result_parts import ComparedResult, comparisons_of
from assay.options.arguments import arguments_of
from assay.options.check import CheckOptions
from assay.options.job_values import Values, flow_values, input_values, model_values, original_values
from assay.options.task_metric import MetricChoice
from assay.task_metrics.registry import TASK_METRICS

TOP1 = "task.top1_agreement >= 0.99"
ACCURACY = "task.top1_accuracy >= 0.9"
CLOSE = "rel_l2 <= 0.05"
CLOSE_TO_ZERO = "max_abs <= 0.001"
"""Where the expected answer is zero, no relative error is recorded."""
CLOSE_TO_FLOAT = "vs_float.rel_l2 <= 0.05"
WITHOUT_DRAWS = (
    "to decide it, check without draws (of a changed model, in both files): export for inference, make the noise an input, or give "
    "outputs from before the draw in place of this one"
)


class ConfiguredJob(msgspec.Struct, frozen=True):
    """A job, and the configuration file that it came from: its flow may have a name that only the file explains."""

    job: Job
    config: str = ""


def command(result: Result, configured: ConfiguredJob | None, *, own: bool = False, **options: object) -> str:
    """`assay check` of the same model on the same flow, with what is `said` by options besides; `own`: on the same inputs. Without
    the job the names of its model and inputs are placeholders. In backticks, by which a report knows what is to be copied."""
    if configured is None:
        values: Values = {"models": ("MODEL.onnx",), "flows": (result.flow,), "inputs": "DATA" if own else ""}
    else:
        job, case = configured.job, configured.job.case
        values = {
            **model_values(case),
            "config": configured.config,
            **(flow_values(job.flow) if isinstance(job, FlowJob) else {}),
            **original_values(case),
            **(input_values(case) if own else {}),
        }
    return (
        f"`{shlex.join(['assay', 'check', *arguments_of(CheckOptions, values), *arguments_of(CheckOptions, options)])}`"
    )


def advice(result: Result, configured: ConfiguredJob | None) -> str:
    """For a result that is mistrusted, by what made it so and by whose inputs it was fed."""
    if result.cause is Cause.NO_REFERENCE:
        return _without_answers(result, configured)
    if result.cause is Cause.OUT_OF_MEMORY:
        return "to decide it, state smaller sizes (--dim, --batch), or check on a larger machine"
    if any(map(is_drawn, comparisons_of(result))):
        return WITHOUT_DRAWS
    reference = result.reference if isinstance(result, ComparedResult) else Reference()
    if without_numbers(result):
        return f"to decide it, give inputs on which the model answers with numbers: {command(result, configured, inputs='FILE.npz')}"
    if reference.kind is ReferenceKind.DEFINITION:
        return "these published answers can show no more: give inputs of your own to the same operator"
    if reference.own_inputs:
        return f"to decide it on these inputs, {to_state(result, configured)}{_by_meaning(result, configured, TOP1)}"
    return (
        f"to decide it, give inputs of your own: {command(result, configured, inputs='FILE.npz')}; or other random ones: "
        f"{command(result, configured, seed=1, samples=16)}"
    )


def without_numbers(result: Result) -> bool:
    """Whether an output has no finite number: no limit of an error can be met there, or missed."""
    return any(
        comparison.degenerate is not None and comparison.degenerate.code is FindingCode.REFERENCE_NOT_FINITE
        for comparison in blocking(comparisons_of(result))
    )


def to_compare(result: Result, configured: ConfiguredJob | None) -> str:
    """Where answers are missing or in doubt."""
    if isinstance(result, ChangeResult):
        new = {"models": ("NEW.onnx",)} if configured is None else model_values(configured.job.case)
        words = ["assay", "check", *arguments_of(CheckOptions, {**new, "golden": "ANSWERS.npz"})]
        text = "the answers of the framework that the old model comes from, beside their inputs, as a golden of the new file"
        return f"to decide it, give {text}: `{shlex.join(words)}`"
    return (
        "to decide it, give the answers of the framework that the model comes from, beside their inputs, as a golden: "
        f"{command(result, configured, golden='ANSWERS.npz')}{_by_meaning(result, configured, ACCURACY)}"
    )


def without_answers(result: Result, configured: ConfiguredJob | None) -> str:
    """The comparison of two files on the inputs that came with answers for the old one, without these."""
    if configured is None or configured.job.case.original is None:
        return "`assay check NEW.onnx --reference OLD.onnx --inputs ANSWERS.npz`"
    case, golden = configured.job.case, configured.job.case.original.golden
    plain = msgspec.structs.replace(case, original=msgspec.structs.replace(configured.job.case.original, golden=""))
    job = msgspec.structs.replace(configured.job, case=plain)
    return command(result, msgspec.structs.replace(configured, job=job), inputs=golden)


def to_state(result: Result, configured: ConfiguredJob | None) -> str:
    """On a user's own inputs, where an error that is small enough for its use settles a doubt."""
    open_ = blocking(comparisons_of(result)) or comparisons_of(result)
    close = CLOSE if all("rel_l2" in comparison.metrics for comparison in open_) else CLOSE_TO_ZERO
    limit = CLOSE_TO_FLOAT if isinstance(result, ChangeResult) else close
    return f"state what is close enough: {command(result, configured, own=True, require=(limit,))}"


def to_measure(result: Result, configured: ConfiguredJob | None) -> str:
    """Where no sample was taken."""
    return f"to decide it, measure for longer: {command(result, configured, only_kind='measure', measure_seconds=5)}"


def _by_meaning(result: Result, configured: ConfiguredJob | None, goal: str) -> str:
    """The task's metric, where some output could be scores of classes, on the inputs of the job where they are a user's."""
    if configured is None or not (output := _scores(configured.job.case)):
        return ""
    labels = "" if goal == TOP1 else ", with the right classes as 'label' beside the inputs"
    labelled = "" if goal == TOP1 else "LABELLED.npz"
    metric = MetricChoice("classification", {"output": output})
    meaning = command(result, configured, own=not labelled, inputs=labelled, task_metric=metric, require=(goal,))
    return f"; or by what the outputs mean, if they are scores of classes (or {', '.join(list(TASK_METRICS)[1:])}){labels}: {meaning}"


def _scores(case: Case) -> str:
    """The first output that could be: numbers, at least two of them on the last of two axes or more."""
    for output in case.model.outputs:
        last = output.shape[-1] if len(output.shape) >= 2 else 1
        if output.dtype.startswith(("float", "bfloat")) and last != 1:
            return output.name
    return ""


def _without_answers(result: Result, configured: ConfiguredJob | None) -> str:
    if isinstance(result, VerifyResult) and result.facts.transforms and (result.comparisons or result.against_float):
        own = result.reference.own_inputs
        inputs = "" if own else "FILE.npz"
        lost = command(result, configured, own=own, inputs=inputs, require=(CLOSE_TO_FLOAT,))
        return f"to decide it, state what the transform may cost against the float model, on inputs of your own: {lost}"
    if result.outcome is Outcome.INFRASTRUCTURE:
        return "free the machine and check again"
    return to_compare(result, configured)

"""What would decide what is not proven: one sentence with a command that can be copied, for each way of proving nothing."""

from __future__ import annotations

import shlex

import msgspec

from assay.core.case import Case
from assay.core.evidence import blocking
from assay.core.job import Job, JobKind
from assay.core.outcome import Cause, Outcome
from assay.core.reference import ReferenceKind
from assay.core.repro import flow_arguments, input_arguments, model_word, original_words
from assay.core.result import Result
from assay.task_metrics.registry import TASK_METRICS

TOP1 = "task.top1_agreement >= 0.99"
ACCURACY = "task.top1_accuracy >= 0.9"
CLOSE = "rel_l2 <= 0.05"
CLOSE_TO_ZERO = "max_abs <= 0.001"
"""Where the expected answer is zero, no relative error is recorded."""
CLOSE_TO_FLOAT = "vs_float.rel_l2 <= 0.05"


class Asked(msgspec.Struct, frozen=True):
    """A job, and the configuration file that it came from: its flow may have a name that only the file explains."""

    job: Job
    config: str = ""


def command(result: Result, asked: Asked | None, *options: str, own: bool = False) -> str:
    """`assay check` of the same model on the same flow, with these options; `own`: on the same inputs. Without the job the names
    of its model and inputs are placeholders. In backticks, by which a report knows what is to be copied."""
    if asked is None:
        words = ["MODEL.onnx", "--flow", result.flow, *(["--inputs", "DATA"] if own else [])]
    else:
        job = asked.job
        flow = flow_arguments(job.flow) if job.flow.backend else []
        words = [
            model_word(job.case),
            *(["--config", asked.config] if asked.config else []),
            *flow,
            *original_words(job.case),
            *(input_arguments(job.case) if own else []),
        ]
    return f"`{shlex.join(['assay', 'check', *words, *options])}`"


def advice(result: Result, asked: Asked | None) -> str:
    """For a result that is mistrusted, by what made it so and by whose inputs it was fed."""
    if result.cause is Cause.NO_REFERENCE:
        return _without_answers(result, asked)
    if result.reference.kind is ReferenceKind.DEFINITION:
        return "these published answers can show no more: give inputs of your own to the same operator"
    if result.reference.own_inputs:
        return f"to decide it on these inputs, {to_state(result, asked)}{_by_meaning(result, asked, TOP1)}"
    return (
        f"to decide it, give inputs of your own: {command(result, asked, '--inputs', 'FILE.npz')}; or other random ones: "
        f"{command(result, asked, '--seed', '1', '--samples', '16')}"
    )


def to_compare(result: Result, asked: Asked | None) -> str:
    """Where answers are missing or in doubt."""
    if result.task == JobKind.CHANGE.value:
        words = [
            "assay",
            "check",
            "NEW.onnx" if asked is None else model_word(asked.job.case),
            "--golden",
            "ANSWERS.npz",
        ]
        told = "the answers of the framework that the old model comes from, beside their inputs, as a golden of the new file"
        return f"to decide it, give {told}: `{shlex.join(words)}`"
    return (
        "to decide it, give the answers of the framework that the model comes from, beside their inputs, as a golden: "
        f"{command(result, asked, '--golden', 'ANSWERS.npz')}{_by_meaning(result, asked, ACCURACY)}"
    )


def without_answers(result: Result, asked: Asked | None) -> str:
    """The comparison of two files on the inputs that came with answers for the old one, without these."""
    if asked is None or asked.job.case.original is None:
        return "`assay check NEW.onnx --reference OLD.onnx --inputs ANSWERS.npz`"
    case, golden = asked.job.case, asked.job.case.original.golden
    plain = msgspec.structs.replace(case, original=msgspec.structs.replace(asked.job.case.original, golden=""))
    job = msgspec.structs.replace(asked.job, case=plain)
    return command(result, msgspec.structs.replace(asked, job=job), "--inputs", golden)


def to_state(result: Result, asked: Asked | None) -> str:
    """On a user's own inputs, where an error that is small enough for its use settles a doubt."""
    open_ = blocking(result.comparisons) or result.comparisons
    close = CLOSE if all("rel_l2" in one.metrics for one in open_) else CLOSE_TO_ZERO
    limit = CLOSE_TO_FLOAT if result.task == JobKind.CHANGE.value else close
    return f"state what is close enough: {command(result, asked, '--require', limit, own=True)}"


def to_measure(result: Result, asked: Asked | None) -> str:
    """Where no sample was taken."""
    return f"to decide it, measure for longer: {command(result, asked, '--only-kind', 'measure', '--measure-seconds', '5')}"


def _by_meaning(result: Result, asked: Asked | None, goal: str) -> str:
    """The task's metric, where some output could be scores of classes, on the inputs of the job where they are a user's."""
    if asked is None or not (output := _scores(asked.job.case)):
        return ""
    labels = "" if goal == TOP1 else ", with the right classes as 'label' beside the inputs"
    given = [] if goal == TOP1 else ["--inputs", "LABELLED.npz"]
    words = [*given, "--task-metric", f"classification:output={output}", "--require", goal]
    meaning = command(result, asked, *words, own=not given)
    return f"; or by what the outputs mean, if they are scores of classes (or {', '.join(list(TASK_METRICS)[1:])}){labels}: {meaning}"


def _scores(case: Case) -> str:
    """The first output that could be: numbers, at least two of them on the last of two axes or more."""
    for one in case.model.outputs:
        last = one.shape[-1] if len(one.shape) >= 2 else 1
        if one.dtype.startswith(("float", "bfloat")) and last != 1:
            return one.name
    return ""


def _without_answers(result: Result, asked: Asked | None) -> str:
    if result.facts.transforms and (result.comparisons or result.against_float):
        own = result.reference.own_inputs
        words = [] if own else ["--inputs", "FILE.npz"]
        lost = command(result, asked, *words, "--require", CLOSE_TO_FLOAT, own=own)
        return f"to decide it, state what the transform may cost against the float model, on inputs of your own: {lost}"
    if result.outcome is Outcome.INFRASTRUCTURE:
        return "free the machine and check again"
    return to_compare(result, asked)

"""The one command that repeats exactly one job."""

from __future__ import annotations

import shlex

from assay.core.case import Inputs
from assay.core.flow import Option
from assay.core.job import Job, Limits, Measuring, Task
from assay.core.result import Result
from assay.core.run import Run


def repro_line(run: Run, asked: Result | Job) -> str:
    """A line for a POSIX shell that repeats one job of `run`, given as the job or as its result.

    Inputs are a golden folder, or a seed with the number of samples and the batch; options of the flow and limits
    that differ from the defaults are spelled out. Where the run does not list the job of a result, the line repeats
    the whole run.
    """
    job = asked if isinstance(asked, Job) else next((job for job in run.jobs if job.key == asked.job_key), None)
    if job is None:
        return run.command
    words = ["assay", "check", _operand(job.case.model.source), "--flow", job.flow.name]
    for name, value in sorted(job.flow.options.items()):
        words += ["--option", f"{name}={_option_text(value)}"]
    words += _inputs(job.case.inputs)
    words += ["--task", job.task.value]
    if job.task is Task.MEASURE:
        words += _measuring(job.measuring)
    words += _limits(job.limits)
    return shlex.join(words)


def _operand(source: str) -> str:
    # A file called "-x.onnx" would be read as an option.
    return f"./{source}" if source.startswith("-") else source


def _option_text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _inputs(inputs: Inputs) -> list[str]:
    if inputs.golden:
        return ["--golden", inputs.golden, "--seed", str(inputs.seed)]
    return ["--seed", str(inputs.seed), "--samples", str(inputs.samples), "--batch", str(inputs.batch)]


def _measuring(measuring: Measuring) -> list[str]:
    default = Measuring()
    words = []
    if measuring.seconds != default.seconds:
        words += ["--measure-seconds", f"{measuring.seconds:g}"]
    for batch in measuring.batches:
        words += ["--measure-batch", str(batch)]
    if measuring.threads != default.threads:
        words += ["--threads", str(measuring.threads)]
    return words


def _limits(limits: Limits) -> list[str]:
    default = Limits()
    words = []
    if limits.timeout_s != default.timeout_s:
        words += ["--timeout", f"{limits.timeout_s:g}"]
    if limits.memory_bytes != default.memory_bytes:
        words += ["--memory", str(limits.memory_bytes)]
    return words

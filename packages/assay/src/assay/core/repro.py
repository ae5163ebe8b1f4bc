"""The one command that repeats exactly one job."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePath

from assay.core.case import Case, Contract, Inputs
from assay.core.environment import SEPARATOR
from assay.core.flow import Flow, Option
from assay.core.job import CompareSpeedJob, Job, Limits, MeasureJob, Measuring, MutationScoreJob
from assay.core.result import Result
from assay.core.run import Run

DEFAULT_CONFIG = "assay.toml"


def repro_line(run: Run, asked: Result | Job) -> str:
    """A line for a POSIX shell that repeats one job of `run`, given as the job or as its result.

    Everything that differs from a default is spelled out: golden folder or seed, samples and batch, options of the flow,
    limits, the policy file. What only a configuration file, a history or other flows that take the same option can say is
    repeated by the run's own command, narrowed to the job. Where the run does not list the job of a result, the line
    repeats the whole run.
    """
    if run.command.startswith("assay run "):
        key = asked.key if isinstance(asked, Job) else asked.job_key
        return f"{run.command} --only {shlex.quote(key)}"
    job = asked if isinstance(asked, Job) else next((job for job in run.jobs if job.key == asked.job_key), None)
    if job is None:
        return run.command
    if run.command.startswith("assay compare") or isinstance(job, MutationScoreJob):
        return run.command
    if run.command.startswith("assay mutate"):
        return f"{run.command} --only {shlex.quote(job.key)}"
    command = _arguments(run.command)
    if command is not None and (
        _from_config(command, job.case) or not _can_be_written(job.case) or _beyond_the_command_line(command, job)
    ):
        return f"{run.command} --only {shlex.quote(job.key)}"
    words = ["assay", "check", _operand(job.case.model.source), *flow_arguments(job.flow)]
    words += [
        *original_words(job.case),
        *input_arguments(job.case),
        *_contract(job.case.contract),
        *_kind_arguments(job, command or ()),
    ]
    if isinstance(job, MeasureJob):
        words += measuring_arguments(job.measuring)
    if isinstance(job, CompareSpeedJob):
        words += measuring_arguments(Measuring(batches=job.batches, threads=job.threads))
    return shlex.join([*words, *_limits(job.limits), *_policy(command or ()), *_requirements(command or ())])


@lru_cache(maxsize=4)
def _arguments(command: str) -> tuple[str, ...] | None:
    """The words after `assay check`; None where the run was started otherwise (from Python, say)."""
    # Cached: a report asks once per job, and a command may name thousands of models.
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return tuple(words[2:]) if words[:2] == ["assay", "check"] else None


def _kind_arguments(job: Job, command: Sequence[str]) -> list[str]:
    """Beside a baseline every job is compared with the approved engine's figures, not only the duel with it."""
    if isinstance(job, CompareSpeedJob) or "--baseline" in command:
        return ["--baseline", "--only", job.key]
    return ["--only-kind", job.kind]


def _from_config(command: Sequence[str], case: Case) -> bool:
    """Models and flows may then have names that only the file explains."""
    suffix = PurePath(case.model.source).suffix
    return any(word.split("=")[0] == "--config" for word in command) or not any(
        word.endswith(suffix) for word in command
    )


def _beyond_the_command_line(command: Sequence[str], job: Job) -> bool:
    """Whether the outcome depends on more than this job: on a history with an approved engine or an earlier run, or on other flows
    that take an option (alone with it, one that does not take it would be refused unrun)."""
    given = [word.split("=")[0] for word in command]
    if "--compare-run" in given or (
        "--history" in given and (isinstance(job, CompareSpeedJob) or "--baseline" in given)
    ):
        return True
    return given.count("--flow") > 1 and not {"--option", "--threads"}.isdisjoint(given)


def config_of(run: Run) -> str:
    """The configuration file that a run of `assay check` read: the one that its command names, or where that names no model of the
    run, the one that is read by default; "" where it read none, or was started otherwise."""
    words = _arguments(run.command)
    if words is None:
        return ""
    for place, word in enumerate(words):
        if word.split("=")[0] == "--config":
            return word.partition("=")[2] or "".join(words[place + 1 : place + 2])
    return DEFAULT_CONFIG if run.jobs and _from_config(words, run.jobs[0].case) else ""


def _can_be_written(case: Case) -> bool:
    return case.original is None and set(case.contract.tolerances) <= {"*"}


def model_word(case: Case) -> str:
    """The model's file as an argument of `assay check`."""
    return _operand(case.model.source)


def original_words(case: Case) -> list[str]:
    """What `assay check` is told of the model that this one is to be still."""
    original = case.original
    if original is None:
        return []
    words = ["--reference", original.model.source] if original.model.source else []
    if original.golden:
        words += ["--golden", original.golden, *([] if words else ["--golden-of-another-model"])]
    for option, names in (("--map-input", original.inputs), ("--map-output", original.outputs)):
        for new, old in names.items():
            words += [option, f"{new}={old}"] if new != old else []
    return words


def _operand(source: str) -> str:
    # A file called "-x.onnx" would be read as an option.
    return f"./{source}" if source.startswith("-") else source


def flow_arguments(flow: Flow) -> list[str]:
    """What `assay check` and `assay baseline set` are told of a flow, every option spelled out."""
    words = _flow(flow)
    for name, value in sorted(flow.options.items()):
        words += ["--option", f"{name}={_option_text(value)}"]
    return words


def _flow(flow: Flow) -> list[str]:
    """Transforms that a user added stand in the flow's name, behind a plus; told apart, any argument of theirs survives."""
    plain, _, added = flow.name.partition("+")
    if not added:
        return ["--flow", flow.name]
    words = ["--flow", f"{plain}{SEPARATOR}{flow.environment}" if flow.environment else plain]
    for transform in flow.transforms:
        words += ["--transform", transform]
    return words


def _option_text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def input_arguments(case: Case) -> list[str]:
    """What both are told of the inputs of a case; `measuring_arguments` of how it is measured."""
    inputs = case.inputs
    words = ["--golden", inputs.golden] if inputs.golden else []
    words += ["--inputs", inputs.given] if inputs.given else []
    if not inputs.given or inputs.seed != Inputs().seed:
        words += ["--seed", str(inputs.seed)]
    if not inputs.golden and not inputs.given:
        words += ["--samples", str(inputs.samples), "--batch", str(inputs.batch), *_fill(inputs.fill)]
    if inputs.calibration:
        words += ["--calibration", str(inputs.calibration)]
    for name, sizes in inputs.dims.items():
        listed = inputs.sizes.get(name)
        words += ["--dim", f"{name}={','.join(map(str, listed)) if listed else ':'.join(map(str, sizes))}"]
    for name, one in inputs.ranges.items():
        if one.choices:
            words += ["--input-value", f"{name}={','.join(f'{number:.17g}' for number in one.choices)}"]
        else:
            words += ["--input-range", f"{name}={one.low:.17g}:{one.high:.17g}"]
    return words


def _fill(fill: str) -> list[str]:
    return [] if fill == Inputs().fill else ["--fill", fill]


def _contract(contract: Contract) -> list[str]:
    told = ",".join(f"{name}={_option_text(value)}" for name, value in contract.task_metric_options.items())
    words = (
        ["--task-metric", f"{contract.task_metric}:{told}" if told else contract.task_metric]
        if contract.task_metric
        else []
    )
    if contract.tolerance != Contract().tolerance:
        words += ["--tolerance", contract.tolerance]
    allowed = contract.tolerances.get("*")
    if allowed is not None and allowed.rtol is not None:
        words += ["--rtol", repr(allowed.rtol)]
    if allowed is not None and allowed.atol is not None:
        words += ["--atol", repr(allowed.atol)]
    return words


def measuring_arguments(measuring: Measuring) -> list[str]:
    default = Measuring()
    words = []
    if measuring.seconds != default.seconds:
        words += ["--measure-seconds", repr(measuring.seconds)]
    for batch in measuring.batches:
        words += ["--measure-batch", str(batch)]
    if measuring.threads != default.threads:
        words += ["--threads", str(measuring.threads)]
    return words


def _limits(limits: Limits) -> list[str]:
    default = Limits()
    words = []
    if limits.timeout_s != default.timeout_s:
        words += ["--timeout", repr(limits.timeout_s)]
    if limits.derive_s != default.derive_s:
        words += ["--derive-timeout", repr(limits.derive_s)]
    if limits.memory_bytes != default.memory_bytes:
        words += ["--memory", str(limits.memory_bytes)]
    return words


def _policy(command: Sequence[str]) -> list[str]:
    for place, word in enumerate(command):
        if word == "--policy":
            return list(command[place : place + 2])
        if word.startswith("--policy="):
            return ["--policy", word.removeprefix("--policy=")]
    return []


def _requirements(command: Sequence[str]) -> list[str]:
    words: list[str] = []
    for place, word in enumerate(command):
        if word == "--require":
            words += command[place : place + 2]
        elif word.startswith("--require="):
            words += ["--require", word.removeprefix("--require=")]
    return words

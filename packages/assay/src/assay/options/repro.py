"""The one command that repeats exactly one job."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePath

from assay.core.case import Case
from assay.core.job import (
    CompareSpeedJob,
    LoadJob,
    MeasureJob,
    MutationScoreJob,
)
from assay.core.job_base import FlowJob, Job
from assay.core.limits import Measuring
from assay.core.result import Result
from assay.core.run import Run
from assay.options.arguments import arguments_of, given_arguments
from assay.options.check import CheckOptions
from assay.options.groups import DEFAULT_CONFIG
from assay.options.job_values import (
    Values,
    contract_values,
    flow_values,
    input_values,
    limit_values,
    measuring_values,
    model_values,
    original_values,
)

Given = Mapping[str, list[str]]
"""What a command line gave, by the name of the option."""


def repro_line(run: Run, asked: Result | Job) -> str:
    """A line for a POSIX shell that repeats one job of `run`, given as the job or as its result.

    Everything that differs from a default is spelled out: golden folder or seed, samples and batch, options of the flow,
    limits, the policy file. What only a configuration file, a history or other flows that take the same option can say is
    repeated by the run's own command, narrowed to the job. Where the run does not list the job of a result, the line
    repeats the whole run.
    """
    name = _command_name(run.command)
    if name == "run":
        return _narrowed(run, asked.key if isinstance(asked, Job) else asked.job_key)
    job = asked if isinstance(asked, Job) else next((job for job in run.jobs if job.key == asked.job_key), None)
    if job is None or name == "compare" or isinstance(job, MutationScoreJob | LoadJob):
        return run.command
    if name == "mutate":
        return _narrowed(run, job.key)
    given = _given(run.command)
    if given is not None and (
        _from_config(given, job.case) or not _can_be_written(job.case) or _beyond_the_command_line(given, job)
    ):
        return _narrowed(run, job.key)
    return shlex.join(["assay", "check", *arguments_of(CheckOptions, _values(run, job, given or {}))])


def _command_name(command: str) -> str:
    """`check` of `assay check m.onnx`; "" for a line of another program."""
    program, _, rest = command.partition(" ")
    return rest.partition(" ")[0] if program == "assay" else ""


def _narrowed(run: Run, key: str) -> str:
    return f"{run.command} {shlex.join(arguments_of(CheckOptions, {'only': key}))}"


def _values(run: Run, job: Job, given: Given) -> Values:
    values = {
        **model_values(job.case),
        **(flow_values(job.flow) if isinstance(job, FlowJob) else {}),
        **original_values(job.case),
        **input_values(job.case),
        **contract_values(job.case.contract),
        **limit_values(job.limits),
        "policy": given.get("policy", [""])[-1],
        "require": tuple(given.get("require", ())),
    }
    named = {source.path: source.named for source in run.sources}
    values["models"] = tuple(named.get(name, name) for name in values["models"])
    if "reference" in values:
        values["reference"] = named.get(values["reference"], values["reference"])
    if isinstance(job, MeasureJob):
        values |= measuring_values(job.measuring)
    if isinstance(job, CompareSpeedJob):
        values |= measuring_values(Measuring(batches=job.batches, threads=job.threads))
    # Beside a baseline every job is compared with the approved engine's metrics, not only the comparison with it.
    if isinstance(job, CompareSpeedJob) or "baseline" in given:
        return values | {"baseline": True, "only": job.key}
    return values | {"only_kind": job.kind}


@lru_cache(maxsize=4)
def _given(command: str) -> Given | None:
    """Of `assay check`; None where the run was started otherwise (from Python, say)."""
    # Cached: a report asks once per job, and a command may name thousands of models.
    try:
        arguments = shlex.split(command)
    except ValueError:
        return None
    return given_arguments(CheckOptions, arguments[2:]) if arguments[:2] == ["assay", "check"] else None


def _from_config(given: Given, case: Case) -> bool:
    """Models and flows may then have names that only the file explains."""
    suffix = PurePath(case.model.source).suffix
    return "config" in given or not any(word.endswith(suffix) for word in given.get("models", ()))


def _beyond_the_command_line(given: Given, job: Job) -> bool:
    """Whether the outcome depends on more than this job: on a history with an approved engine or an earlier run, or on other flows
    that take an option (alone with it, one that does not take it would be refused unrun)."""
    if "compare_run" in given or ("history" in given and (isinstance(job, CompareSpeedJob) or "baseline" in given)):
        return True
    return len(given.get("flows", ())) > 1 and not {"options", "threads"}.isdisjoint(given)


def _can_be_written(case: Case) -> bool:
    return case.original is None and set(case.contract.tolerances) <= {"*"}


def config_of(run: Run) -> str:
    """The configuration file that a run of `assay check` read: the one that its command names, or where that names no model of the
    run, the one that is read by default; "" where it read none, or was started otherwise."""
    given = _given(run.command)
    if given is None:
        return ""
    if "config" in given:
        return given["config"][-1]
    return DEFAULT_CONFIG if run.jobs and _from_config(given, run.jobs[0].case) else ""

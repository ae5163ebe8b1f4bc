"""`assay.check(...)`: the options of the command line as a function; the command itself goes through here too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from assay.commands.alerting import rules_for, with_alerts
from assay.commands.caches import enforce_cache_limit_after_check
from assay.commands.check_request import read_config, request_of
from assay.commands.composition import open_services
from assay.commands.data_locations import near_place
from assay.commands.machine_address import job_address
from assay.commands.recycling import recycle_of
from assay.commands.remote_machines import remote_machines
from assay.commands.reporting import destinations
from assay.launch.idle import IdleWorkers
from assay.options.arguments import values_from_python
from assay.options.check import CheckOptions
from assay.options.groups import DEFAULT_HISTORY
from assay.options.python_call import CheckKeywords, signature_of
from assay.pipeline.adapters import Services
from assay.pipeline.check import check as run_pipeline
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.request import Request


def check(*models: str | Path, **keywords: Unpack[CheckKeywords]) -> Checked:
    """Build, verify and measure models on flows, record the results and judge them.

    A failing model raises nothing: look at `judgement.exit_code`. UsageError says what is wrong with the input, before anything
    ran; HarnessError that the machine failed.

    The keywords are the options of `assay check`, whose help says what each means; their values are those of Python:

    - `models`: files to check. None: all that `config` (default: ./assay.toml) lists.
    - `dims`: sizes of symbolic dimensions, `{"height": [64, 96, 160], "x[2]": 48}`; three numbers that rise are minimum, usual, maximum.
    - `input_ranges`, `input_values`: values of inputs, `{"mask": (0, 1)}` and `{"rate": 16000}`.
    - `state`: outputs to feed back as inputs of the next call, `{"stateN": "state"}`. `image`: an `assay.core.data.Picture`.
    - `map_inputs`, `map_outputs`: names that differ from those of `reference`, from new to old.
    - `task_metric`: the name of a task metric, or `("classification", {"output": "scores"})`.
    - `reports`: from the name of a report to its file, `{"html": "out.html"}`.
    - `measure`: False is `only_kind="verify"`: neither latency nor memory is measured.
    """
    SIGNATURE.bind(*models, **keywords)
    values = values_from_python(CheckOptions, {**keywords, "models": models})
    if not keywords.get("measure", True):
        values.setdefault("only_kind", "verify")
    # What is advised names a configuration file only where one was read.
    command = "assay check" if keywords.get("config") or not models else "assay.check"
    return run_check(CheckOptions(**values, command=command))


SIGNATURE = signature_of(CheckOptions, CheckKeywords, "Checked")
check.__signature__ = SIGNATURE  # type: ignore[attr-defined]


def run_check(options: CheckOptions, progress: Progress = SILENT, idle: IdleWorkers | None = None) -> Checked:
    """The whole of `assay check`, its printing apart. `idle` are workers that were started before."""
    reports = destinations(options.reports)
    config = read_config(options)
    request = request_of(options, config)
    rules = rules_for(options.alerts, config)
    history = options.history or (near_place(config.history) if config else DEFAULT_HISTORY)
    recycle = recycle_of(options)
    machines = remote_machines(job_address(options.on, config), options.workers, recycle)
    with open_services(
        history,
        workers=options.workers,
        recycle=recycle,
        progress=progress,
        config=config,
        idle=idle,
        machines=machines,
    ) as services:
        if options.compare_run:
            request = replace(request, baseline=services.store.run(options.compare_run).id)
        checked = with_alerts(run_pipeline(request, services), services, rules, options.alerts)
    enforce_cache_limit_after_check(checked.results)
    for destination in reports:
        destination.write(checked)
    return checked


@contextmanager
def prepared(options: CheckOptions, progress: Progress) -> Iterator[tuple[Request, Services]]:
    """What the options ask for and the services to do it with: where other commands begin."""
    config = read_config(options)
    request = request_of(options, config)
    history = options.history or (near_place(config.history) if config else DEFAULT_HISTORY)
    recycle = recycle_of(options)
    machines = remote_machines(job_address("", config), options.workers, recycle) if config else None
    with open_services(
        history, workers=options.workers, recycle=recycle, progress=progress, config=config, machines=machines
    ) as services:
        yield request, services

"""Options of runs that several commands share, a class for each thing that they speak of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.options.declaration import option, option_group

if TYPE_CHECKING:
    from assay.core.flow import Option as Value

DEFAULT_HISTORY = ".assay"
DEFAULT_CONFIG = "assay.toml"
"""What `assay check` reads where it is given no model."""
HERE = "here"
"""How --on names this machine, where assay.toml names another."""
REPORTS = "html, json, junit, markdown, csv, per-node, terminal, github, gitlab; of suites suite-csv, suite-markdown, matrix, operators"
"""Ours, for the help: a plug-in may bring others."""


def history_words(history: str) -> list[str]:
    """What a later command says to find the same history: nothing for the default place. Of an address neither its password nor its
    settings: others read the line."""
    if history == DEFAULT_HISTORY:
        return []
    if "://" in history:
        history = re.sub(r"(://[^/:@]*):[^@]*@", r"\1@", history).partition("?")[0]
    return ["--history", history]


@option_group
class FlowOptions:
    """On which flows."""

    flows: tuple[str, ...] = option(
        (),
        "Flow to run on, for example onnxruntime or openvino-f32. Repeatable.",
        flag="--flow",
        metavar="FLOW",
        toml="flows.use",
    )
    options: Mapping[str, Value] = option(
        {}, "Set an option of the backend. Repeatable.", flag="--option", metavar="NAME=VALUE", kind="backend option"
    )


@option_group
class TransformOptions:
    """What is done to a model before it is lowered."""

    transforms: tuple[str, ...] = option(
        (),
        "Transform the model before lowering. One that changes no type, such as opset:17, comes before the flow's own, others after them. "
        "Repeatable.",
        flag="--transform",
        metavar="NAME[:ARGUMENT]",
    )


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """How speed is measured."""

    measure_seconds: float | None = option(
        None, "Sampling time per flow and batch size, in seconds [0.5].", least=0.01, toml="measure.seconds"
    )
    measure_batches: tuple[int, ...] = option(
        (),
        "Batch size to measure at. Repeatable.",
        flag="--measure-batch",
        metavar="SIZE",
        least=1,
        toml="measure.batches",
    )
    threads: int | None = option(
        None, "Number of threads of the engine while measuring [1].", least=1, toml="measure.threads"
    )


@option_group
class TimeoutOptions:
    """How long a job may take."""

    timeout_s: float | None = option(
        None,
        "Time limit of a job in seconds, without the import of the backend [300; for suites 60].",
        flag="--timeout",
        least=0.1,
        toml="limits.timeout-s",
    )


@option_group
class MemoryOptions:
    """How much memory a job may take."""

    memory_bytes: int | None = option(
        None,
        "Limit of a job's resident memory, for example 4GB [no limit].",
        flag="--memory",
        metavar="SIZE",
        kind="bytes",
        toml="limits.memory",
    )


@option_group
class RepeatOptions:
    """How long an engine may be asked again what it has answered."""

    repeat_share: float | None = option(
        None,
        "Share of a job's time for repeated calls, which show unstable answers; up to 149 calls [0.25].",
        least=0.0,
        metavar="SHARE",
        toml="limits.repeat-share",
    )


HISTORY = "Where runs are recorded: a folder, or a postgresql+psycopg:// URL."


@option_group
class HistoryOptions:
    """Where runs are kept."""

    history: str = option(
        DEFAULT_HISTORY,
        HISTORY,
        metavar="FOLDER",
        toml="history",
    )


@option_group
class ConfiguredHistoryOptions:
    """Where runs are kept: "" where the configuration says."""

    history: str = option("", HISTORY, metavar="FOLDER", toml="history")


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is written of a run."""

    reports: tuple[tuple[str, Path], ...] = option(
        (),
        f"Write a report: {REPORTS}. Repeatable.",
        flag="--report",
        metavar="NAME=FILE",
        kind="report",
        once=True,
    )


@option_group
class ConfigOptions:
    """What lists the models."""

    config: Path | None = option(None, "TOML file that lists models, flows and limits [assay.toml].")


@option_group
class PolicyOptions:
    """What decides the verdict."""

    policy: str = option("", "TOML file with limits and expected outcomes.", metavar="FILE")


@option_group
class WorkerOptions:
    """How many jobs run at a time, and in which processes."""

    workers: int = option(0, "Number of workers that verify in parallel. 0: one per core.", least=0)
    fresh_processes: bool = option(
        False, "Give every job a process of its own: slower, and nothing that a job leaves behind reaches another."
    )


@option_group
class MachineOptions:
    """On which machines jobs run."""

    on: str = option(
        "",
        "Where jobs run: ray, ray://HOST:PORT of the head, slurm, slurm://PARTITION or here [as assay.toml says, else here].",
        metavar="ENGINE",
        toml="launch.on",
        once=True,
    )


@option_group
class CompareRunOptions:
    """What a run is compared with."""

    compare_run: str = option("", "Earlier run that degradation limits compare with.", metavar="RUN")


ONLY = "Run only one job, CASE|FLOW|KIND (used by repro lines)."


@option_group
class OnlyOptions:
    """One job of a run."""

    only: str = option("", ONLY, metavar="JOB", once=True)


@option_group
class CaseOptions:
    """Which cases of suites are run."""

    filters: tuple[str, ...] = option(
        (),
        "Run only the cases whose names match, for example 'conv2d*'. Repeatable.",
        flag="--filter",
        metavar="GLOB",
    )
    shard: str = option("", "Run share I of N of the cases, chosen by the digest of their names.", metavar="I/N")


ALERT_MODES = ("send", "show", "off")


@option_group
class AlertOptions:
    """Whether alerts are sent."""

    alerts: str = option(
        "send",
        "What becomes of the alerts that assay.toml asks for: send, show (print them, send nothing) or off.",
        choices=ALERT_MODES,
        once=True,
    )

"""The options of `assay triage`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option
from assay.options.groups import (
    ConfigOptions,
    ConfiguredHistoryOptions,
    FlowOptions,
    PolicyOptions,
    TimeoutOptions,
    TransformOptions,
    WorkerOptions,
)
from assay.options.model_groups import AnswerOptions, InputOptions, JudgeOptions


@dataclass(frozen=True, kw_only=True)
class TriageOptions(
    FlowOptions,
    TransformOptions,
    AnswerOptions,
    InputOptions,
    JudgeOptions,
    PolicyOptions,
    ConfigOptions,
    TimeoutOptions,
    WorkerOptions,
    ConfiguredHistoryOptions,
):
    """What a user may say. `target` is a file, or a run of the history."""

    target: str = option(
        "", "A model to check and triage, or a run of the history.", metavar="MODEL|RUN", argument=True, needed=True
    )
    job: str = option("", "Triage this job of the run alone, as the report names it.", metavar="KEY")
    time_limit_s: float = option(
        600.0, "Seconds for each red verdict; the best so far is reported.", flag="--time-limit", least=1.0
    )
    since: bool = option(
        False, "Also find the first bad release: the script is run with other releases, which uv installs and keeps."
    )
    build_command: str = option(
        "",
        "Also find the first bad build: a command that makes the build {build} and prints the Python that has it (with --builds or "
        "--source).",
        metavar="COMMAND",
    )
    builds: tuple[str, ...] = option(
        (), "Name of a build, the oldest first. Repeatable.", metavar="NAME", flag="--build"
    )
    source: Path | None = option(
        None, "Git tree whose commits are the builds; each is checked out beside it.", metavar="FOLDER"
    )
    good: str = option("", "Commit of --source that is right.", metavar="COMMIT")
    bad: str = option("HEAD", "Commit of --source that is wrong.", metavar="COMMIT")
    output: Path = option(Path("triage"), "Folder for the small models, scripts and pages.", metavar="FOLDER")
    command: str = "assay triage"

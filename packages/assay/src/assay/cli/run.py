"""`assay run`: whole suites over flows; `assay merge`: shards of a run back into one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.common import History, Reports, command_line, finish, leave, progress_bar, read_reports
from assay.cli.from_options import from_options, read_options
from assay.options.groups import DEFAULT_HISTORY
from assay.options.run import RunOptions

if TYPE_CHECKING:
    from assay.launch.prefork import Preforked


@from_options(RunOptions)
def run(values: Mapping[str, Any]) -> None:
    from assay.commands.machine_address import said_address
    from assay.launch.prefork import Preforked

    starts = values["only_kind"] == "verify" and not said_address(values["on"]).text
    with Preforked(values["flows"] or () if starts else ()) as preforked:
        run_with(values, sys.argv[1:], preforked)


def run_with(values: Mapping[str, Any], words: Sequence[str], preforked: Preforked) -> None:
    """Exits. `words` are the command line; workers are forked from what imports already."""
    hint = "with --unrecorded nothing is kept of it: run it again" if values["unrecorded"] else ""
    with progress_bar(hint) as progress:
        # Not before: what this imports takes as long as what the workers import.
        from assay.commands.remote_machines import remote_machines_for_suites

        options = read_options(RunOptions, values, command=command_line(words, RunOptions))
        with remote_machines_for_suites(options) or nullcontext() as machines:
            from assay.commands.run import run_suites

            checked = run_suites(options, progress, preforked, machines)
    if options.unrecorded:  # a table takes as long as a third of what starts a shard, and the whole has one
        print(f"{len(checked.results)} results are in {options.save} alone: `assay merge` judges and shows them")
        leave(checked)
    finish(checked, [f"report: {path}" for _, path in options.reports])


def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="FILE", help="What `assay run --shard I/N --save` wrote.")],
    report: Reports = None,
    history: History = DEFAULT_HISTORY,
    expectations: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Expected outcomes to judge by, as they are now [those when the shards were run]."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Policy to judge by, as it is now [that when the shards were run]."),
    ] = None,
    durations: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write how long each case took, for --shard I/N --durations FILE of the next run."
        ),
    ] = None,
) -> None:
    from assay.commands.alerting import SEND, rules_for, with_alerts
    from assay.commands.composition import open_services
    from assay.commands.reporting import destinations, try_to_write
    from assay.commands.suite_policy import policy_now
    from assay.pipeline.merge import merge as join
    from assay.pipeline.suite_cases.durations import seconds_by_case, write_durations

    where = destinations(read_reports(report))
    rules = rules_for(SEND, None)
    if durations:
        try_to_write(durations)
    with open_services(history) as services:
        checked = with_alerts(
            join(shards, services, policy_of=lambda run: policy_now(run, policy, expectations)), services, rules, SEND
        )
    if durations:
        write_durations(durations, seconds_by_case(checked.results))
    for destination in where:
        destination.write(checked)
    finish(checked, [f"report: {destination.path}" for destination in where])

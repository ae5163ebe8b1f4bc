"""Commands over what is recorded: runs, report, rejudge, diff, resume."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.common import History, Reports, finish, progress_bar, read_reports
from assay.cli.from_options import shown
from assay.options.groups import DEFAULT_HISTORY, REPORTS, MachineOptions, WorkerOptions

RunId = Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, the beginning of one, or `last`.")]


def runs(
    limit: Annotated[int, typer.Option(min=1, help="Largest number of runs to list.")] = 20,
    commit: Annotated[
        str, typer.Option(metavar="COMMIT", help="Only runs of this commit, or the beginning of one.")
    ] = "",
    machine: Annotated[str, typer.Option(metavar="TEXT", help="Only runs on machines with this in their name.")] = "",
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="Only runs of the model with this name, digest or beginning of one.")
    ] = "",
    code: Annotated[
        str,
        typer.Option(
            metavar="CODE", help="Only runs with this outcome, cause, signal, finding or warning: crash, node-on-cpu."
        ),
    ] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay.commands.composition import open_services
    from assay.pipeline.going_on import resumable, resume_command
    from assay.ports import RunSearch

    search = RunSearch(commit.lower(), machine, model, code)

    with open_services(history, recorded=True) as services:
        listed = [
            (run_summary, services.standing(run_summary.id, run_summary.status))
            for run_summary in services.store.runs(limit, search)
        ]
        cut = [services.store.run(run_summary.id) for run_summary, status in listed if status == "interrupted"]
    if not listed and search != RunSearch():
        print(f"no run in {history} is like that; `assay runs` lists them all")
    elif not listed:
        print(f"no runs in {history}; `assay check` makes one")
    for run_summary, status in listed:
        counts = (
            f"{run_summary.passed} passed, {run_summary.failed} failed, {run_summary.other} {run_summary.name_of_other}"
            if run_summary.word
            else ""
        )
        state = (
            run_summary.word
            if status == "complete"
            else f"{status} ({run_summary.recorded} of {run_summary.jobs} jobs)"
        )
        print(f"{run_summary.id}  {state:<14} {counts}  {run_summary.command}")
    for run in filter(resumable, cut):
        print(f"to go on: {resume_command(run.id, history)}")


def report(
    run: RunId = "last",
    format: Annotated[str, typer.Option("--format", help=f"Format of the report: {REPORTS}.")] = "terminal",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write [standard output].")] = None,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="RUN",
            help="Earlier run to show every difference to, or `previous`: the last one with the same cases and flows.",
            show_default=False,
        ),
    ] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay import plugins
    from assay.commands.composition import open_services
    from assay.commands.reporting import GROUP, destinations
    from assay.pipeline.past_runs.against import against as compared_with
    from assay.pipeline.rejudge import rejudge

    where = destinations([(format, output)]) if output else []
    renderer = plugins.load(GROUP, format)()
    with open_services(history, recorded=True) as services:
        alone = checked = rejudge(run, None, services)
        if against:
            checked = compared_with(against, checked, services)
    text = renderer.render(checked.run, checked.results, checked.judgement)
    if against and text == renderer.render(alone.run, alone.results, alone.judgement):
        print(f"assay: {format} has no part about another run: it is the same without --against", file=sys.stderr)
    for destination in where:
        destination.write(checked)
        print(f"report: {destination.path}")
    if not where:
        print(text, end="")


def rejudge(
    run: RunId = "last",
    policy: Annotated[
        str, typer.Option(metavar="FILE", help="Policy to judge by, a TOML file [the run's own].", show_default=False)
    ] = "",
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="CHOICE",
            help="Tolerance to judge by: derived, default, torch, onnx or fixed:RTOL,ATOL [the run's own].",
            show_default=False,
        ),
    ] = "",
    report: Reports = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay.commands.composition import open_services
    from assay.commands.reporting import destinations
    from assay.config.assay_toml import load_policy
    from assay.numerics.tolerance.tolerance_tables import table_of
    from assay.pipeline.rejudge import rejudge as again

    where = destinations(read_reports(report))
    demanded = load_policy(policy) if policy else None
    if tolerance:
        table_of(tolerance)
    with open_services(history, recorded=True) as services:
        checked = again(run, demanded, services, tolerance=tolerance)
    for destination in where:
        destination.write(checked)
    finish(checked, [f"report: {destination.path}" for destination in where])


def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="The earlier run, or a file that `assay run --save` wrote.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The later run, or a file of it [last].")] = "last",
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 if a case that was ok is not ok any more, or is gone.")
    ] = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay.commands.composition import open_services
    from assay.pipeline.past_runs.diff import diff as compare

    files = Path(old).is_file() and Path(new).is_file()
    with open_services(history, recorded=not files) as services:
        run_diff = compare(old, new, services)
    print(f"{run_diff.old} -> {run_diff.new}")
    for key, before, after in run_diff.outcomes:
        print(f"  {key}: {before or 'absent'} -> {after or 'absent'}")
    for change in run_diff.figures:
        before = "absent" if change.old is None else f"{change.old:.6g}"
        after = "absent" if change.new is None else f"{change.new:.6g}"
        relative = f" ({change.new / change.old - 1:+.1%})" if change.old and change.new is not None else ""
        print(f"  {change.job_key} {change.metric}: {before} -> {after}{relative}")
    if not run_diff.outcomes and not run_diff.figures:
        print("  no outcome changed, and no metric by more than 1 %")
    failing, passing = run_diff.newly_failing(), run_diff.newly_passing()
    if run_diff.outcomes:
        print(f"{len(failing)} newly failing, {len(passing)} newly passing, {len(run_diff.outcomes)} outcomes changed")
    if check and failing:
        raise typer.Exit(1)


def resume(
    run: RunId = "last",
    report: Reports = None,
    workers: Annotated[int, shown(WorkerOptions, "workers")] = 0,
    on: Annotated[str, shown(MachineOptions, "on")] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay.commands.alerting import SEND, rules_for, with_alerts
    from assay.commands.composition import open_services
    from assay.commands.machine_address import job_address
    from assay.commands.recycling import RECYCLE
    from assay.commands.remote_machines import remote_machines
    from assay.commands.reporting import destinations
    from assay.pipeline.resume import resume as go_on

    where = destinations(read_reports(report))
    rules, machines = rules_for(SEND, None), remote_machines(job_address(on), workers, RECYCLE)
    with (
        progress_bar() as progress,
        open_services(history, workers=workers, progress=progress, recorded=True, machines=machines) as services,
    ):
        checked = with_alerts(go_on(run, services), services, rules, SEND)
    for destination in where:
        destination.write(checked)
    finish(checked, [f"report: {destination.path}" for destination in where])

"""`assay baseline`: the engines that the next ones are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.common import History
from assay.cli.from_options import from_options, read_options
from assay.options.check import BaselineOptions, check_options
from assay.options.groups import DEFAULT_HISTORY

if TYPE_CHECKING:
    from assay.core.baseline import Baseline

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command("set")
@from_options(BaselineOptions)
def set_(values: Mapping[str, Any]) -> None:
    """Build and measure engines, and store them as baselines with who, when and why."""
    from assay.commands.baseline import set_baselines
    from assay.reports import format as text

    options = read_options(BaselineOptions, values)
    # Random samples of assay.toml beside the golden are verified, never measured.
    for baseline in set_baselines(replace(check_options(options), random_samples=0), options.reason):
        facts = baseline.result.facts
        made = f"{text.size(facts.artifact_bytes)}, {baseline.flow.backend} {facts.backend_version}"
        print(f"approved {baseline.case} on {baseline.flow.name}: {made}, by {baseline.who}: {baseline.reason}")


@app.command("list")
def list_(
    every: Annotated[
        bool, typer.Option("--all", help="Earlier ones, too, with the id that `rollback --to` takes.")
    ] = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    """List all baselines, with who, when and why."""
    from assay.commands.baseline import damaged_baselines, kept_baselines

    damaged = damaged_baselines(history)
    entries = [entry for entry in kept_baselines(history) if every or entry.id == "current"]
    for entry in entries:
        print(_line(entry.baseline, f"{entry.id}: " if every else "", entry.trouble))
    for sentence in damaged:
        print(sentence)
    if not entries and not damaged:
        print("no baseline yet: assay baseline set MODEL --flow FLOW --reason WHY")


def _line(baseline: Baseline, before: str = "", trouble: str = "") -> str:
    built = f"{baseline.flow.backend} {baseline.result.facts.backend_version}; {baseline.machine.kind}"
    evidence = f"; passed in run {baseline.run}" if baseline.run else ""
    broken = f" [{trouble}]" if trouble else ""
    case = f"{before}{baseline.case} on {baseline.flow.name} ({built})"
    return f"{case}, {baseline.created_at[:16]} by {baseline.who}: {baseline.reason}{evidence}{broken}"


@app.command("approve")
def approve(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Run that passed, `last` or the beginning of an id.")
    ] = "last",
    reason: Annotated[str, typer.Option(help="Why its engines are approved; stored with them.")] = "",
    case: Annotated[str, typer.Option(help="This case alone.")] = "",
    flow: Annotated[str, typer.Option(help="This flow alone.")] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    """Make the engines of a run of `assay check --baseline` that passed the baselines, without building them again."""
    from assay.commands.baseline import approve_run

    for baseline in approve_run(run, reason, history, case=case, flow=flow):
        print(f"approved {_line(baseline)}")


@app.command("rollback")
def rollback(
    case: Annotated[
        str, typer.Argument(metavar="MODEL", help="Name of the case, as `assay baseline list` shows it, or its file.")
    ],
    flow: Annotated[str, typer.Option(help="Flow of the engine.")],
    reason: Annotated[str, typer.Option(help="Why the earlier engine is current again; recorded.")] = "",
    to: Annotated[str, typer.Option(help="Id of the baseline, as `list --all` shows it [the one before].")] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    """Make an earlier engine the baseline again; the one that was is kept. Each rollback goes one further back."""
    from assay.commands.baseline import rollback_baseline

    current, replaced = rollback_baseline(case, flow, to, reason, history)
    print(f"current again: {_line(current)}")
    if replaced is not None:
        print(f"kept, for --to {replaced.id}: {_line(replaced.baseline)}")


@app.command("remove")
def remove(
    case: Annotated[
        str, typer.Argument(metavar="MODEL", help="Name of the case, as `assay baseline list` shows it, or its file.")
    ],
    flow: Annotated[str, typer.Option(help="Flow of the engine.")],
    history: History = DEFAULT_HISTORY,
) -> None:
    """Remove the baseline of one model on one flow."""
    from assay.commands.baseline import remove_baseline

    print(f"{remove_baseline(case, flow, history)} removed")


def audit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name of a case, its file, or a golden folder.")],
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay.commands.baseline import audit_golden, audit_model

    for state in audit_golden(model):
        print(f"{state.created_at[:16]}  golden    by {state.who}: {state.reason}")
        print(f"    {state.producer} {state.producer_version}, of model {state.model_digest[:12]}")
    if audit_golden(model):
        return

    for approval in audit_model(model, history):
        engine = (
            f"engine {approval.engine[:12]} of model {approval.model[:12]}, {approval.built_by}, {approval.machine}"
        )
        evidence = (
            f"passed in run {approval.run}: assay report {approval.run}"
            if approval.run
            else "built and measured for it"
        )
        sentence = evidence if approval.action.value in ("set", "approve") else f"approved before; {evidence}"
        why = f": {approval.reason}" if approval.reason else ""
        print(
            f"{approval.at[:16]}  {approval.action.value:<8}  {approval.case} on {approval.flow}  by {approval.who}{why}"
        )
        print(f"    {engine}; {sentence}")

"""`assay baseline`: the engines that the next ones are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from assay.cli.common import History
from assay.cli.from_options import from_options, read_options
from assay.options.check import BaselineOptions, check_options
from assay.options.groups import DEFAULT_HISTORY

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command("set")
@from_options(BaselineOptions)
def set_(given: Mapping[str, Any]) -> None:
    """Build and measure engines, and store them as baselines with who, when and why."""
    from assay.commands.baseline import set_baselines
    from assay.reports import format as text

    options = read_options(BaselineOptions, given)
    # Random samples of assay.toml beside the golden are verified, never measured.
    for one in set_baselines(replace(check_options(options), random_samples=0), options.reason):
        facts = one.result.facts
        made = f"{text.size(facts.artifact_bytes)}, {one.flow.backend} {facts.backend_version}"
        print(f"approved {one.case} on {one.flow.name}: {made}, by {one.who}: {one.reason}")


@app.command("list")
def list_(history: History = DEFAULT_HISTORY) -> None:
    """List all baselines, with who, when and why."""
    from assay.commands.baseline import list_baselines

    found = list_baselines(history)
    for one in found:
        built = f"{one.flow.backend} {one.result.facts.backend_version}; {one.machine.kind}"
        print(f"{one.case} on {one.flow.name} ({built}), {one.created_at[:16]} by {one.who}: {one.reason}")
    if not found:
        print("no baseline yet: assay baseline set MODEL --flow FLOW --reason WHY")


@app.command("remove")
def remove(
    case: Annotated[str, typer.Argument(help="Name of the case, as `assay baseline list` shows it.")],
    flow: Annotated[str, typer.Option(help="Flow of the engine.")],
    history: History = DEFAULT_HISTORY,
) -> None:
    """Remove the baseline of one model on one flow."""
    from assay.commands.baseline import remove_baseline

    print(f"{remove_baseline(case, flow, history)} removed")

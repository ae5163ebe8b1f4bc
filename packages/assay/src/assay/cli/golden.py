"""`assay golden`: record, verify, diff, update."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.common import History, progress_bar
from assay.cli.from_options import from_options, read_options, shown
from assay.core.golden import GIVEN, GoldenLock
from assay.options.golden import REFERENCE, RecordOptions
from assay.options.groups import DEFAULT_HISTORY

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Model = Annotated[Path, shown(RecordOptions, "model")]
Folder = Annotated[Path, shown(RecordOptions, "folder")]
FlowName = Annotated[str, shown(RecordOptions, "flow")]


@app.command("record")
@from_options(RecordOptions)
def record(values: Mapping[str, Any]) -> None:
    """Record reference outputs for a model into a new golden folder."""
    from assay.commands.golden import record_golden

    options = read_options(RecordOptions, values)
    with progress_bar() as progress:
        lock, notes = record_golden(options, progress)
    for note in notes:
        print(f"note: {note}")
    print(f"recorded {_made(lock)}, in {options.folder}")


@app.command("verify")
def verify(
    folder: Folder,
    model: Annotated[Path | None, typer.Option(help="Model that the golden should fit.")] = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Report everything that is wrong with a golden; exit 1 if anything is."""
    from assay.commands.composition import open_services
    from assay.commands.sources import NamedModels
    from assay.core.limits import Limits
    from assay.pipeline.goldens import golden

    file = NamedModels().local(model) if model is not None else None
    with open_services(history) as services:
        problems = golden.verify(file, folder, services, limits=Limits())
    for problem in problems:
        print(problem)
    if problems:
        raise typer.Exit(1)
    print(f"{folder} is whole" + (f" and fits {model}" if model else ""))


@app.command("diff")
def diff(folder: Folder, model: Model, flow: FlowName = REFERENCE, history: History = DEFAULT_HISTORY) -> None:
    """Show what an update would change; exit 1 if anything."""
    if _propose(folder, model, flow, "diff", history, write=False):
        raise typer.Exit(1)


@app.command("update")
def update(
    folder: Folder,
    model: Model,
    reason: Annotated[
        str, typer.Option(help="Why the update is right; stored in golden.lock. A terminal asks for it.")
    ] = "",
    flow: FlowName = REFERENCE,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Show what would change, ask for a reason, then record the outputs again on the same inputs."""
    from assay.errors import UsageError

    asking = sys.stdin.isatty()
    if not reason and not asking:
        raise UsageError("an update needs a reason: give --reason")
    if not yes and not asking:
        raise UsageError("an update without a terminal needs --yes; look at `assay golden diff` first")
    _propose(folder, model, flow, reason, history, write=True, yes=yes)


@app.command("refresh")
def refresh(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="GOLDEN", help="Golden folders [those of assay.toml, and all baselines]."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Report what is stale and what would change; write no golden.")
    ] = False,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0, help="Also stale: what is older.", show_default=False)
    ] = None,
    flow: Annotated[str, typer.Option(help="Also stale: what another flow computed [as recorded].")] = "",
    change: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a text for review and a script that makes the change on a branch."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file that lists models [assay.toml].")] = None,
    history: History = "",
) -> None:
    """Report which goldens and baselines are stale, for a nightly job; exit 1 if any is."""
    from assay.commands.golden_refresh import refresh_goldens
    from assay.errors import UsageError

    if not check and change is None:
        raise UsageError("give --check to report what is stale, or --change FOLDER to write a change for review, too")
    with progress_bar() as progress:
        lines, stale = refresh_goldens(
            folders or (),
            oracle=flow,
            days=older_than,
            config=config,
            history=history,
            change=change,
            progress=progress,
        )
    for line in lines:
        print(line)
    if stale:
        raise typer.Exit(1)


def _propose(folder: Path, model: Path, flow: str, inputs: str, history: str, *, write: bool, yes: bool = True) -> bool:
    from assay import plugins
    from assay.commands.composition import open_services
    from assay.commands.sources import NamedModels
    from assay.core.limits import Limits
    from assay.pipeline.goldens import golden

    file = NamedModels().local(model)
    with open_services(history) as services, tempfile.TemporaryDirectory(dir=services.folder) as staging:
        flow_here = plugins.find_flow(flow)
        reason = inputs or "to be given"
        lines = golden.propose(
            file, folder, flow_here, reason, services, limits=Limits(), staging=Path(staging) / "golden"
        )
        renewed = write and bool(inputs)  # of values that stay the same, the producer and the day change
        for line in lines or ["the values stay the same: only the lock changes" if renewed else "nothing would change"]:
            print(line)
        if not write or not (lines or renewed):
            return bool(lines)
        reason = inputs or typer.prompt("why is this right")
        if not yes and not typer.confirm(f"write {folder}"):
            raise typer.Exit(1)
        if not inputs:
            golden.give_reason(Path(staging) / "golden", reason)
        lock = golden.publish(Path(staging) / "golden", folder)
        print(f"updated {folder}: {_made(lock)}")
    return True


def _made(lock: GoldenLock) -> str:
    """`16 samples, answered by reference (version 1.23.2)`."""
    count = f"{lock.samples} sample{'s' if lock.samples > 1 else ''}"
    if lock.producer == GIVEN:
        return f"{count}, with the answers that were given"
    version = f" (version {lock.producer_version})" if lock.producer_version else ""
    return f"{count}, answered by {lock.producer}{version}"

"""`assay golden`: record, verify, diff, update."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as opt
from assay.cli.common import History, progress_bar
from assay.commands.defaults import DEFAULT_HISTORY

app = typer.Typer(
    help="Stored reference outputs: record, verify, diff, update.", no_args_is_help=True, rich_markup_mode=None
)

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="ONNX file.")]
Folder = Annotated[Path, typer.Argument(metavar="GOLDEN", help="Golden folder.")]
FlowName = Annotated[str, typer.Option("--flow", help="Flow that computes the outputs.")]
Reason = Annotated[str, typer.Option(help="Why the golden is right; stored in golden.lock.")]
REFERENCE = "reference"


@app.command("record")
def record(
    model: Model,
    folder: Folder,
    reason: Reason,
    flow: FlowName = REFERENCE,
    inputs: Annotated[
        str,
        typer.Option(
            metavar="DATA", help="Your own inputs: another golden, .npy, .npz, a folder, images, module:function..."
        ),
    ] = "",
    state: opt.State = None,
    image: opt.Image = "",
    keep_outputs: Annotated[
        bool, typer.Option("--keep-outputs", help="Store the outputs that the data contain, not those of the flow.")
    ] = False,
    dim: opt.Dims = None,
    input_range: opt.InputRanges = None,
    input_value: opt.InputValues = None,
    seed: Annotated[int, typer.Option(help="Random seed of the inputs (ignored with --inputs).")] = 0,
    samples: Annotated[int, typer.Option(min=1, help="Number of random samples (ignored with --inputs).")] = 16,
    batch: Annotated[int, typer.Option(min=1, help="Batch size of random samples (ignored with --inputs).")] = 1,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Record reference outputs for a model into a new golden folder."""
    import msgspec

    from assay import plugins
    from assay.commands.check import CheckOptions
    from assay.commands.composition import open_services
    from assay.commands.own_data import source_of
    from assay.commands.parse_options import with_stated
    from assay.config.data_options import data_of, parse_state
    from assay.core.case import Inputs
    from assay.core.job import Limits
    from assay.models.golden_checks import nan_notes
    from assay.models.goldens import read_golden
    from assay.pipeline import golden

    found = data_of("", source_of(inputs), state=parse_state(state or ()), image=image)
    data = msgspec.structs.replace(found, expected=keep_outputs) if found else None
    stated = CheckOptions(
        dims=tuple(dim or ()), input_ranges=tuple(input_range or ()), input_values=tuple(input_value or ())
    )
    recipe = with_stated(Inputs(seed=seed, samples=samples, batch=batch, data=data), stated)
    with progress_bar() as progress, open_services(history, progress=progress) as house:
        if keep_outputs:
            lock, note = golden.keep(model, folder, recipe, reason, house, limits=Limits()), ""
        else:
            lock, note = golden.record(model, folder, recipe, plugins.find_flow(flow), reason, house, limits=Limits())
    for one in filter(None, [*nan_notes(read_golden(folder).outputs), note]):
        print(f"note: {one}")
    print(f"recorded {lock.samples} samples by {lock.producer} {lock.producer_version} in {folder}")


@app.command("verify")
def verify(
    folder: Folder,
    model: Annotated[Path | None, typer.Option(help="Model that the golden should fit.")] = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Report everything that is wrong with a golden; exit 1 if anything is."""
    from assay.commands.composition import open_services
    from assay.core.job import Limits
    from assay.pipeline import golden

    with open_services(history) as house:
        problems = golden.verify(model, folder, house, limits=Limits())
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


def _propose(folder: Path, model: Path, flow: str, given: str, history: str, *, write: bool, yes: bool = True) -> bool:
    from assay import plugins
    from assay.commands.composition import open_services
    from assay.core.job import Limits
    from assay.pipeline import golden

    with open_services(history) as house, tempfile.TemporaryDirectory(dir=house.folder) as staging:
        found = plugins.find_flow(flow)
        reason = given or "to be given"
        lines = golden.propose(model, folder, found, reason, house, limits=Limits(), staging=Path(staging) / "golden")
        for line in lines or ["nothing would change"]:
            print(line)
        if not write or not lines:
            return bool(lines)
        reason = given or typer.prompt("why is this right")
        if not yes and not typer.confirm(f"write {folder}"):
            raise typer.Exit(1)
        if reason != given:
            golden.give_reason(Path(staging) / "golden", reason)
        lock = golden.publish(Path(staging) / "golden", folder)
        print(f"updated {folder}: {lock.samples} samples by {lock.producer} {lock.producer_version}")
    return True

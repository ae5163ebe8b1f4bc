"""`assay fuzz`: models without end, and what they show. `assay fuzz report` tells it again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.common import History, command_line, print_line, progress_bar
from assay.cli.from_options import from_options, read_options
from assay.options.fuzz import FuzzOptions
from assay.options.groups import DEFAULT_HISTORY

app = typer.Typer(rich_markup_mode=None)
LOG_S = 60.0
"""A session lasts hours: how often a log gets a line about how far it is."""


@from_options(FuzzOptions)
def fuzz(values: Mapping[str, Any]) -> None:
    from assay.commands.fuzz import run_fuzz
    from assay.fuzz.fuzz_text import lines
    from assay.pipeline.progress import SILENT

    options = read_options(FuzzOptions, values, command=command_line(sys.argv[1:], FuzzOptions))
    hint = (
        "what was screened is kept: the same command goes on with it, "
        "and `assay fuzz report` (with the same --corpus and --history) shows it"
    )
    with progress_bar(hint, LOG_S) as progress:
        fuzzed = run_fuzz(options, SILENT, print_line, progress.doing)
    for line in (
        *lines(fuzzed.session, {bucket.key for bucket in fuzzed.new}),
        f"corpus: {fuzzed.corpus}",
        *fuzzed.alerts,
    ):
        print_line(line)
    raise typer.Exit(fuzzed.exit_code)


def _alone(ctx: typer.Context, **values: Any) -> None:
    """Find wrong answers and crashes in a backend with generated models, until a time is over; one bucket for each cause."""
    if ctx.invoked_subcommand is None:
        fuzz(**values)


_PLACE = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)
_SIGNATURE = signature(fuzz)
_alone.__signature__ = Signature([_PLACE, *_SIGNATURE.parameters.values()])  # type: ignore[attr-defined]
_alone.__annotations__ = {"ctx": typer.Context, **fuzz.__annotations__}
app.callback(invoke_without_command=True)(_alone)


@app.command("send")
def send(
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FOLDER", help="Folder of the session [fuzz, in the history].")
    ] = None,
    history: History = DEFAULT_HISTORY,
    config: Annotated[Path | None, typer.Option("--config", help="TOML file with [alerts] [assay.toml].")] = None,
) -> None:
    """Send the causes of a session that were not sent yet; exit 1 if a target was not reached."""
    from assay.commands.fuzz import corpus_of, read_session
    from assay.commands.fuzz_alerts import send_causes

    place = corpus_of(corpus, history)
    sent = send_causes(read_session(place), place, history, config)
    print("\n".join(sent.lines) or "no new cause is to be sent")
    if not sent.arrived:
        raise typer.Exit(1)


@app.command("report")
def report(
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FOLDER", help="Folder of the session [fuzz, in the history].")
    ] = None,
    history: History = DEFAULT_HISTORY,
    issues: Annotated[
        Path | None,
        typer.Option("--issues", metavar="FOLDER", help="Write a text for each cause that had none yet, a file each."),
    ] = None,
) -> None:
    """Show the causes of a session, new first, what was spent on which generator, and what was never reached."""
    from assay.commands.fuzz import corpus_of, possible_forms, read_session
    from assay.fuzz.fuzz_text import coverage_lines, curve_lines, lines

    place = corpus_of(corpus, history)
    session = read_session(place)
    if issues is not None:
        from assay.fuzz.issues import write_issues

        for path in write_issues(session, issues):
            print_line(f"issue: {path}")
        place.write(session)
    for line in (*lines(session, set()), *curve_lines(session), *coverage_lines(session, possible_forms())):
        print_line(line)

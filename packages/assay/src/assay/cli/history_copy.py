"""`assay history`: a history as a whole."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY

app = typer.Typer(no_args_is_help=True)

Location = "A history's folder, or postgresql+psycopg://user@host/database."


@app.callback()
def history() -> None:
    """Copy one history into another, shorten it, and say who may use it."""


@app.command("copy")
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help=f"What is copied. {Location}")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="Where to, made if it is not there. What is there stays.")
    ],
) -> None:
    """Copy every run, with its results, its words and what it is searched by. What is in TO already is left out: a copy that was cut off
    is gone on with by the same command. Engines, goldens and logs are files beside the history, and not copied."""
    from assay.commands.history_copy import copy_from

    runs, new = copy_from(source, target)
    print(f"{runs} runs, {new} results that {target} had not")


@app.command("grant")
def grant(
    history: Annotated[
        str, typer.Argument(metavar="URL", help="The history, as its owner: postgresql+psycopg://owner@host/database.")
    ],
    reader: Annotated[
        list[str] | None, typer.Option(metavar="ROLE", help="Role that may look at runs; repeat it for more.")
    ] = None,
    writer: Annotated[list[str] | None, typer.Option(metavar="ROLE", help="Role that may record runs, too.")] = None,
) -> None:
    """Give roles of PostgreSQL their rights on a history. A reader can use runs, report, rejudge, diff and trend; a writer can also record.
    Neither can remove a run or change the tables."""
    from assay.commands.history_copy import grant_roles

    grant_roles(history, tuple(reader or ()), tuple(writer or ()))
    print(f"readers: {', '.join(reader or ()) or 'none'}; writers: {', '.join(writer or ()) or 'none'}")


@app.command("prune")
def prune(
    samples_weeks: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Weeks that raw samples are kept; 0: for ever [samples-weeks of [retention]]."
        ),
    ] = None,
    files_weeks: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Weeks that logs, traces and engines of runs are kept; 0: for ever [files-weeks]."
        ),
    ] = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Remove raw samples of old runs, and their logs, traces and engines. Results, verdicts and every metric stay, for reports and trends.
    Baselines and their samples stay, too."""
    from assay.commands.retention import prune_history

    done = prune_history(history, samples_weeks=samples_weeks, files_weeks=files_weeks)
    print(f"samples of {done.samples} results and files of {done.runs} runs removed; their metrics are kept")

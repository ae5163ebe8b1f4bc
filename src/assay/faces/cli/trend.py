"""`assay trend`: a figure through the history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.faces.cli.common import DEFAULT_HISTORY, History


def trend(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's file, or the name of a case.")],
    flow: Annotated[str, typer.Option(help="The flow.")] = "onnxruntime",
    figure: Annotated[
        str, typer.Option(help="latency, cpu, throughput, memory, size, build, load, error, or any recorded figure.")
    ] = "latency",
    png: Annotated[Path | None, typer.Option(help="Write a plot.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the plot.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one line per run.")] = None,
    prometheus: Annotated[Path | None, typer.Option(help="Write the newest value for a text collector.")] = None,
    mlflow: Annotated[str, typer.Option(metavar="URI", help="Log every run's value to a tracking server.")] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    """Alarms and changes of level, with the commits between them; exit 1 where the newest run is an alarm's."""
    from assay.faces.trend import show

    text, alarmed = show(
        model, flow, figure, history, png=png, html=html, csv=csv, prometheus=prometheus, mlflow=mlflow
    )
    print(text, end="")
    if alarmed:
        raise typer.Exit(1)

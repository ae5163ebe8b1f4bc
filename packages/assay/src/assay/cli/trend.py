"""`assay trend`: a metric through the history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY


def trend(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's file, or the name of a case.")],
    flow: Annotated[str, typer.Option(help="Flow to show.")] = "onnxruntime",
    metric: Annotated[
        str,
        typer.Option(
            help="Metric to show: latency, cpu, throughput, memory, size, build, load, error, or any recorded one."
        ),
    ] = "latency",
    png: Annotated[Path | None, typer.Option(help="Write a plot to this PNG file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the plot to this HTML file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one line per run to this CSV file.")] = None,
    prometheus: Annotated[
        Path | None, typer.Option(help="Write the newest value to this file, for Prometheus's text collector.")
    ] = None,
    mlflow: Annotated[
        str, typer.Option(metavar="URI", help="Log the value of every run to this MLflow tracking server.")
    ] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    from assay.commands.trend import show

    text, alarmed = show(
        model, flow, metric, history, png=png, html=html, csv=csv, prometheus=prometheus, mlflow=mlflow
    )
    print(text, end="")
    if alarmed:
        raise typer.Exit(1)

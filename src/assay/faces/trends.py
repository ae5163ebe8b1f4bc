"""`assay trend` as a function, and where its figures can go."""

from __future__ import annotations

from pathlib import Path

from assay.core.trend import Trend
from assay.errors import NotWritable, UsageError
from assay.faces.composition import open_house
from assay.pipeline.trend import trend
from assay.reports import trend_plot, trend_text


def show(
    model: str,
    flow: str,
    figure: str,
    history: str,
    *,
    png: Path | None = None,
    html: Path | None = None,
    csv: Path | None = None,
    prometheus: Path | None = None,
    mlflow: str = "",
) -> tuple[str, bool]:
    """The text, and whether the newest run raised an alarm. Raises UsageError, NotWritable."""
    with open_house(history, recorded=True) as house:
        found = trend(house.store, Path(model).stem if model.endswith((".onnx", ".pt2")) else model, flow, figure)
    try:
        if png:
            trend_plot.write_png(found, png)
        if html:
            html.write_text(trend_plot.as_html(found), encoding="utf-8")
        if csv:
            csv.write_text(trend_text.as_csv(found), encoding="utf-8")
        if prometheus:
            prometheus.write_text(trend_text.as_prometheus(found), encoding="utf-8")
    except OSError as error:
        raise NotWritable(f"{error.filename or png or html} cannot be written ({error.strerror})") from None
    if mlflow:
        _to_mlflow(found, mlflow)
    return trend_text.as_text(found), len(found.points) - 1 in found.alarms


def _to_mlflow(found: Trend, uri: str) -> None:
    """One MLflow run per run of ours, tagged with its id, in the experiment `assay`."""
    try:
        from mlflow import MlflowClient
    except ImportError:
        raise UsageError("--mlflow needs the package mlflow: run pip install mlflow") from None
    client = MlflowClient(tracking_uri=uri)
    known = client.get_experiment_by_name("assay")
    experiment = known.experiment_id if known else client.create_experiment("assay")
    for step, point in enumerate(found.points):
        tags = {"assay.run": point.run_id, "assay.case": found.case, "assay.flow": found.flow, "commit": point.commit}
        run = client.create_run(experiment, tags=tags, run_name=point.run_id)
        client.log_metric(run.info.run_id, found.figure, point.value, step=step)
        client.set_terminated(run.info.run_id)

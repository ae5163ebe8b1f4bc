"""`assay trend` as a function, and where its metrics can go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.commands.composition import open_services
from assay.core.trend import Trend
from assay.errors import NotWritable, UsageError
from assay.pipeline.past_runs.trend import trend
from assay.reports import trend_picture, trend_text


def show(
    model: str,
    flow: str,
    metric: str,
    history: str,
    *,
    png: Path | None = None,
    html: Path | None = None,
    csv: Path | None = None,
    prometheus: Path | None = None,
    mlflow: str = "",
) -> tuple[str, bool]:
    """The text, and whether the newest run raised an alarm. Raises UsageError, NotWritable."""
    with open_services(history, recorded=True) as services:
        series = trend(services.store, Path(model).stem if model.endswith((".onnx", ".pt2")) else model, flow, metric)
    try:
        if png:
            trend_picture.write_png(series, png)
        if html:
            html.write_text(trend_picture.as_html(series), encoding="utf-8")
        if csv:
            csv.write_text(trend_text.as_csv(series), encoding="utf-8")
        if prometheus:
            prometheus.write_text(trend_text.as_prometheus(series), encoding="utf-8")
    except OSError as error:
        raise NotWritable(f"{error.filename or png or html} cannot be written ({error.strerror})") from None
    if mlflow:
        _to_mlflow(series, mlflow)
    return trend_text.as_text(series), len(series.points) - 1 in series.alarms


def _to_mlflow(series: Trend, uri: str) -> None:
    """One MLflow run per run, case and flow of ours, tagged so, in the experiment `assay`; what is there already is not logged
    again. Raises UsageError where the server or the folder does not answer."""
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise UsageError("--mlflow needs the package mlflow: run pip install mlflow") from None
    try:
        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name("assay")
        place = experiment.experiment_id if experiment else client.create_experiment("assay")
        there = _logged(client, place, series)
        for step, point in enumerate(series.points):
            run = there.get(point.run_id)
            if run is None:
                tags = {**_tags(series), "assay.run": point.run_id, "commit": point.commit}
                run = client.create_run(place, tags=tags, run_name=point.run_id)
                client.set_terminated(run.info.run_id)
            if series.metric not in run.data.metrics:
                client.log_metric(run.info.run_id, series.metric, point.value, step=step)
    except MlflowException as error:
        raise UsageError(f"{uri}: MLflow does not take the metrics ({str(error).splitlines()[0]})") from None


def _tags(series: Trend) -> dict[str, str]:
    return {"assay.case": series.case, "assay.flow": series.flow}


def _logged(client: Any, experiment: str, series: Trend) -> dict[str, Any]:
    """MLflow's runs of this case and flow, by the identity of ours."""
    tags = " and ".join(f"tags.`{name}` = '{value}'" for name, value in _tags(series).items())
    runs: dict[str, Any] = {}
    token = None
    while True:
        page = client.search_runs([experiment], tags, max_results=1000, page_token=token)
        runs.update({run.data.tags["assay.run"]: run for run in page})
        token = page.token
        if not token:
            return runs

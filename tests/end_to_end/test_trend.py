"""A metric through a real history: the steps named with their commits, the alarm, the plots, the exports."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import numpy as np
import pytest

from assay.commands.trend import show
from assay.core.job_base import JobKind
from assay.core.machine import Machine
from assay.errors import UsageError
from assay.pipeline.past_runs.trend import trend
from assay.pipeline.provenance import this_machine
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_measurement, make_result, make_run


def _fill(folder: Path, medians_s: list[float], machine: Machine | None = None, first: int = 0) -> SqlStore:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "journal").mkdir(exist_ok=True)
    store = SqlStore(str(folder / "history.db"))
    job = make_job("net", "onnxruntime", JobKind.MEASURE)
    for number, median_s in enumerate(medians_s, first):
        run = make_run(
            f"20261121T{number:06d}-aaaaaa",
            (job,),
            started_at=f"2026-11-21T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}+00:00",
            commit=f"{number:040x}",
            machine=machine or this_machine(),
        )
        store.open_run(run)
        result = make_result("net", "onnxruntime", "measure", measurements=(make_measurement(median_s=median_s),))
        store.record(run.id, [result])
    return store


def _noisy(rng: np.random.Generator, level: float, count: int) -> list[float]:
    return [float(number) for number in level * np.exp(0.008 * rng.standard_normal(count))]


def test_a_step_is_found_with_the_commits_around_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    store = _fill(tmp_path, _noisy(rng, 0.002, 60) + _noisy(rng, 0.0021, 20))
    series = trend(store, "net", "onnxruntime", "latency")
    (change,) = series.changes
    assert change.place == 60
    assert change.worse
    assert change.percent == pytest.approx(5, abs=1)
    assert (int(change.last_commit, 16), int(change.first_commit, 16)) == (59, 60)
    assert series.alarms
    assert 60 <= series.alarms[0] <= 70


def test_no_change_no_alarm(tmp_path: Path) -> None:
    store = _fill(tmp_path, _noisy(np.random.default_rng(4), 0.002, 80))
    series = trend(store, "net", "onnxruntime", "latency")
    assert (series.alarms, series.changes) == ((), ())


def test_what_falls_is_worse_for_throughput(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    store = _fill(tmp_path, _noisy(rng, 0.002, 40) + _noisy(rng, 0.0024, 20))
    series = trend(store, "net", "onnxruntime", "throughput")
    (change,) = series.changes
    assert change.worse
    assert change.after < change.before
    assert series.alarms


def test_runs_of_other_machines_are_left_out_and_counted(tmp_path: Path) -> None:
    store = _fill(tmp_path, [0.002] * 5)
    store.close()
    store = _fill(tmp_path, [0.004] * 3, msgspec.structs.replace(this_machine(), cpu="Another"), first=5)
    series = trend(store, "net", "onnxruntime", "latency")
    assert (len(series.points), series.elsewhere) == (5, 3)


@pytest.mark.parametrize(
    ("case", "metric", "sentence"),
    [
        ("other", "latency", "no run of other on onnxruntime"),
        ("net", "latency.median", "the nearest are latency.median_ms"),
    ],
)
def test_nothing_to_show(tmp_path: Path, case: str, metric: str, sentence: str) -> None:
    store = _fill(tmp_path, [0.002])
    with pytest.raises(UsageError, match=sentence):
        trend(store, case, "onnxruntime", metric)


def test_everything_that_can_be_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(6)
    _fill(tmp_path / "h", _noisy(rng, 0.002, 40) + _noisy(rng, 0.0023, 7)).close()
    files = {name: tmp_path / f"t.{name}" for name in ("png", "html", "csv")}
    text, _ = show(
        "models/net.onnx", "onnxruntime", "latency", str(tmp_path / "h"), prometheus=tmp_path / "t.prom", **files
    )
    assert "worse by 1" in text
    assert "alarm at run" in text
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    page = files["html"].read_text()
    assert "<svg" in page
    assert "http-equiv" in page
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert len(rows) == 47
    assert [row["change"] for row in rows].index("1") == 40
    assert 'assay_latency_median_ms{case="net",flow="onnxruntime"' in (tmp_path / "t.prom").read_text()


def test_mlflow_has_each_run_once(tmp_path: Path) -> None:
    client = pytest.importorskip("mlflow").MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    _fill(tmp_path / "h", [0.002, 0.003])
    for metric in ("latency", "latency", "throughput.per_s"):
        show("net", "onnxruntime", metric, str(tmp_path / "h"), mlflow=f"sqlite:///{tmp_path}/mlflow.db")
    place = client.get_experiment_by_name("assay").experiment_id
    runs = sorted(client.search_runs([place]), key=lambda run: str(run.info.run_name))
    assert [run.data.tags["assay.flow"] for run in runs] == ["onnxruntime"] * 2
    assert [run.data.tags["commit"] for run in runs] == [f"{0:040x}", f"{1:040x}"]
    assert [len(run.data.metrics) for run in runs] == [2, 2]
    assert min(run.data.metrics["throughput.per_s"] for run in runs) == pytest.approx(1 / 0.003, rel=0.1)


def test_an_mlflow_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    _fill(tmp_path / "h", [0.002, 0.003])
    with pytest.raises(UsageError, match="http://localhost:9: MLflow does not take the metrics"):
        show("net", "onnxruntime", "latency", str(tmp_path / "h"), mlflow="http://localhost:9")

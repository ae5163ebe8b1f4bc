"""What the page of a trend says of a metric that nobody recorded, of several annotations, of what was recorded a moment ago, and of a
machine that runs seldom."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from assay.core.annotation import Annotation
from assay.stores.sql import SqlStore
from assay.testing.builders import MACHINE, make_measurement, make_result, make_run
from assay.web import trend as module
from assay.web.address import address
from assay.web.app import make_app
from assay.web.site import Site
from assay.web.trend import NEWEST
from dashboard_history import WELL

KINDS = ("verify", "compare_speed", "per_node", "mutation_score")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore(str(tmp_path / "history.db"))) as store:
        yield store


def test_a_misspelt_metric_names_its_neighbours(client: TestClient) -> None:
    answer = client.get(address("/trend", case=WELL, flow="tvm", metric="latency.p9_ms"))
    assert answer.status_code == 400
    assert "the nearest are latency.p" in answer.text


def test_days_without_a_run_are_not_a_history_without_one(client: TestClient) -> None:
    said = client.get(address("/trend", case=WELL, flow="tvm", metric="latency", since="2030-01-01")).text
    assert "has a number for latency.median_ms in what was asked" in said


def test_all_annotations_of_a_point_are_shown(store: SqlStore, tmp_path: Path) -> None:
    store.open_run(make_run("20260101"))
    store.record("20260101", [make_result("a", kind="measure", measurements=(make_measurement(),))])
    for text in ("new compiler", "new driver"):
        store.add_annotation(Annotation("2026-01-02T10:00:00+00:00", "ann", text, "20260101", "a", "onnxruntime"))
    said = (
        TestClient(make_app(Site(store, tmp_path), {"testserver"}))
        .get(address("/trend", case="a", flow="onnxruntime"))
        .text
    )
    assert [said.count(text) for text in ("new compiler", "new driver")] == [1, 1]


def test_a_page_of_a_run_shows_the_newest_of_its_own(store: SqlStore, tmp_path: Path) -> None:
    store.open_run(make_run("20260101"))
    store.record("20260101", [make_result("a")])
    for number in range(102):
        for case, flow in (("", ""), ("a", "onnxruntime")):
            text = f"{case or 'run'} note {number}."
            store.add_annotation(Annotation("2026-01-02T10:00:00+00:00", "ann", text, "20260101", case, flow))
    client = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
    said = client.get(address("/matrix", run="20260101")).text
    assert [f"run note {number}." in said for number in (1, 2, 101)] == [False, True, True]
    assert said.index("run note 2.") < said.index("run note 101.")
    assert " note 50." in said
    assert "a note" not in said
    assert "a note 101." in client.get(address("/result", case="a", flow="onnxruntime", run="20260101")).text
    assert len(store.annotations()) == 204


def test_a_fifth_result_of_a_run_is_shown_at_once(store: SqlStore, tmp_path: Path) -> None:
    client = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
    store.open_run(make_run("20260101"))
    path = f"/api/v1{address('/trend', case='a', flow='onnxruntime', metric='latency')}"
    four = [make_result("a", kind=kind) for kind in KINDS]
    assert len(four) == NEWEST
    store.record("20260101", four)
    assert client.get(path).status_code == 400
    store.record("20260101", [make_result("a", kind="measure", measurements=(make_measurement(),))])
    assert client.get(path).status_code == 200


def _get(store: SqlStore, folder: Path, **asked: object) -> dict[str, Any]:
    client = TestClient(make_app(Site(store, folder), {"testserver"}))
    answer = client.get(f"/api/v1{address('/trend', case='a', flow='onnxruntime', **asked)}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_trend_has_the_newest_runs_and_all_of_them_where_they_are_asked_for(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RUNS", 3)
    for number in range(1, 7):
        run = f"2026010{number}"
        store.open_run(make_run(run, started_at=f"2026-01-0{number}T02:00:00+00:00"))
        tasks = {"early": 1.0} if number == 1 else {}
        measure = make_result("a", kind="measure", measurements=(make_measurement(median_s=1e-3 * number),))
        store.record(run, [make_result("a", task_metrics=tasks), measure])

    def shown(**asked: object) -> tuple[list[str], bool]:
        said = _get(store, tmp_path, **asked)
        return [point["run_id"][-1] for point in said["trends"][0]["points"]], said["earlier"]

    assert shown(metric="latency") == (["4", "5", "6"], True)
    assert shown(metric="latency", until="2026-01-04") == (["2", "3", "4"], True)
    assert shown(metric="latency", since="2026-01-02", until="2026-01-03") == (["2", "3"], False)
    assert shown(metric="latency", runs=6) == (["1", "2", "3", "4", "5", "6"], False)
    assert shown(metric="task.early") == (["1"], False), "what the newest runs lack is looked for in the others"
    page = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
    path = address("/trend", case="a", flow="onnxruntime", metric="latency")
    assert "These are the newest 3 runs." in page.get(path).text
    assert "These are the newest" not in page.get(f"{path}&runs=10").text
    said = page.get(f"{path}&runs=0")
    assert (said.status_code, "it is a whole number from 1 to 10,000" in said.text) == (400, True)


def _fill(store: SqlStore, number: int, cpu: str, flow: str = "onnxruntime", **metrics: float) -> str:
    """The id of the new run, which begins a day after the one of the number before."""
    run = f"2026-02-{number:02}"
    store.open_run(make_run(run, started_at=f"{run}T02:00:00+00:00", machine=replace(MACHINE, cpu=cpu)))
    measure = make_result("a", kind="measure", flow=flow, measurements=(make_measurement(median_s=1e-3 * number),))
    store.record(run, [make_result("a", flow=flow, task_metrics=metrics), measure])
    return run


def test_the_trend_of_a_machine_that_runs_seldom_is_found(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RUNS", 5)
    runs = [_fill(store, number, "seldom" if number in {3, 8} else "often") for number in range(1, 29)]
    seldom, often = (replace(MACHINE, cpu=cpu).kind for cpu in ("seldom", "often"))
    newest = _get(store, tmp_path, metric="latency")
    assert [point["run_id"] for point in newest["trends"][0]["points"]] == runs[-5:]
    assert (newest["trends"][0]["machine"], newest["trends"][0]["elsewhere"], newest["earlier"]) == (often, 2, True)
    assert [(row["machine"], row["runs"]) for row in newest["machines"]] == [(often, 5), (seldom, 2)]
    document = _get(store, tmp_path, metric="latency", machine=seldom)
    assert [point["run_id"] for point in document["trends"][0]["points"]] == [runs[2], runs[7]]
    assert (document["trends"][0]["elsewhere"], document["earlier"]) == (26, False)
    assert [(row["machine"], row["runs"]) for row in document["machines"]] == [(seldom, 2), (often, 10)]
    page = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
    path = address("/trend", case="a", flow="onnxruntime", metric="latency")
    said = page.get(f"{path}&since=2026-02-20").text
    assert f"<option>{seldom}</option>" in said, "it is offered in days without a run of it, too"
    assert "These are the newest 5 runs on this kind of machine of those days." in said
    nobody = page.get(f"{path}&machine=nobody")
    assert (nobody.status_code, f"(26 on {often}, 2 on {seldom}), and this is nobody" in nobody.text) == (400, True)


def test_what_the_newest_runs_of_a_machine_lack_is_looked_for_in_its_earlier_ones(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RUNS", 2)
    runs = [_fill(store, number, "one", **({"early": 1.0} if number == 1 else {})) for number in range(1, 5)]
    _fill(store, 5, "other", early=2.0)
    document = _get(store, tmp_path, metric="task.early", machine=replace(MACHINE, cpu="one").kind)
    assert [point["run_id"] for point in document["trends"][0]["points"]] == runs[:1]


def test_the_page_says_the_number_of_runs_that_was_read(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RUNS", 2)
    monkeypatch.setattr(module, "MOST_RUNS", 4)
    for number in range(1, 7):
        _fill(store, number, "one", **({"early": 1.0} if number == 3 else {}))
        _fill(store, number + 10, "one", "tvm", **({"early": 1.0} if number in {4, 6} else {}))
    page = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
    of_tvm = page.get(f"/api/v1{address('/trend', case='a', flow='tvm', metric='task.early', beside='onnxruntime')}")
    points = [[point["run_id"][-2:] for point in line["points"]] for line in of_tvm.json()["trends"]]
    assert points == [["14", "16"], ["03"]], "both have the runs that one of them needs"
    for flow, beside in (("onnxruntime", ""), ("onnxruntime", "tvm"), ("tvm", "onnxruntime")):
        said = page.get(address("/trend", case="a", flow=flow, metric="task.early", beside=beside)).text
        assert "These are the newest 4 runs." in said, (flow, beside)
        assert "Earlier ones, too" not in said, (flow, beside)
    newest = page.get(address("/trend", case="a", flow="onnxruntime", metric="latency")).text
    assert "These are the newest 2 runs. <a href=" in newest


def test_machines_stand_in_one_plot_and_links_keep_what_was_asked(store: SqlStore, tmp_path: Path) -> None:
    for number in range(1, 9):
        _fill(store, number, "old" if number % 2 else "new", "tvm" if number > 6 else "onnxruntime")
    old, new = (replace(MACHINE, cpu=cpu).kind for cpu in ("old", "new"))
    asked = {"metric": "latency", "machine": old, "since": "2026-02-02", "runs": 9}
    both = _get(store, tmp_path, **asked, machines=f"{new};nobody;{new}")
    assert [(trend["flow"], trend["machine"], len(trend["points"])) for trend in both["trends"]] == [
        ("onnxruntime", old, 2),
        ("onnxruntime", new, 3),
    ]
    page = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
    path = address("/trend", case="a", flow="onnxruntime", **asked)
    said = html.unescape(page.get(f"{path}&{urlencode({'machines': new})}").text)
    assert said.count('class="key ') == 2
    assert f"onnxruntime on {old}</span>" in said
    assert f"and onnxruntime on {new}." in said
    (link,) = re.findall(r'Beside it: <a href="([^"]*)"', said)
    kept = dict(parse_qsl(urlsplit(link).query))
    assert kept == {
        **{"case": "a", "flow": "onnxruntime", "metric": "latency.median_ms", "machine": old, "runs": "9"},
        **{"beside": "tvm", "machines": new, "since": "2026-02-02"},
    }
    alone = html.unescape(page.get(path).text)
    # On a narrow screen numbers stand above their lines, in letters of 12: the highest one is not cut off.
    assert min(float(y) for y in re.findall(r'class="again" x="958" y="([\d.]+)"', alone)) >= 12
    (one_plot,) = re.findall(r'href="([^"]*)">in the same plot', alone)
    assert dict(parse_qsl(urlsplit(one_plot).query))["machines"] == new

"""The newest run of each branch on the first page, the runs of one, and one cell on several machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.judge.verdicts import judge
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_measurement, make_result, make_run
from assay.web.address import address
from assay.web.app import make_app
from assay.web.site import Site
from dashboard_history import run_id

# branch, machine, seconds of the median
RAN = (
    ("main", "small", 0.010), ("feature/<b>", "small", 0.011), ("main", "large", 0.004), ("", "large", 0.006), ("main", "small", 0.012),
    ("old", "small", 0.010), ("main", "small", 0.012),
)  # fmt: skip


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with closing(SqlStore(str(tmp_path / "history.db"))) as store:
        for number, (branch, machine, seconds) in enumerate(RAN):
            job = make_job("digits", "tvm", "measure")
            run = make_run(run_id(number), (job,), branch=branch)
            run = replace(
                run,
                versions={"tvm": f"0.{number % 3}"},
                machine=replace(run.machine, cpu=machine),
                started_at=f"2026-11-{number + 10}T02:15:00+00:00",
            )
            results = [
                replace(make_result("digits", "tvm", "measure"), measurements=(make_measurement(median_s=seconds),))
            ]
            store.open_run(run)
            store.record(run.id, results)
            store.close_run(run.id, "complete", judge(results, run.policy, planned=[job.key], today=date(2026, 11, 26)))
    with open_to_read(str(tmp_path)) as store:
        yield TestClient(make_app(Site(store, tmp_path), {"testserver"}), raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("asked", "to", "runs"),
    [
        ("branch:feature/<b>", "branch:main", (1, 6)),
        ("machine:LARGE", "machine:small", (3, 6)),
        ("commit:0F3C", run_id(0)[:15], (6, 0)),
        ("branch:main", "branch:main", (6, 4)),
        ("last", "machine:small", (6, 5)),
        ("branch:old", "previous", (5, 4)),
        ("version:tvm=0.2", "version:tvm=0.1", (5, 4)),
    ],
)
def test_runs_of_branches_machines_and_commits_are_compared_by_name(
    client: TestClient, asked: str, to: str, runs: tuple[int, int]
) -> None:
    document = client.get(address("/api/v1/compare", run=asked, to=to)).json()
    assert (document.get("new"), document.get("old")) == tuple(map(run_id, runs)), document
    assert client.get(address("/compare", run=asked, to=to)).status_code == 200


def test_a_branch_without_a_complete_run_is_not_found(client: TestClient, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "history.db"))) as store:
        store.open_run(make_run(run_id(9), branch="begun"))
    for asked, code, words in (
        ("branch:nowhere", 404, "no run is of branch nowhere"),
        ("branch:begun", 404, "none of the newest 1 runs of branch begun is complete"),
        ("version:tvm=7", 404, "no complete one of the newest 8 runs has tvm=7"),
        ("branch:", 400, "names no run: write branch:NAME"),
        ("version:tvm", 400, "names no run: write version:PACKAGE=VERSION"),
        ("version:tvm=", 400, "names no run: write version:PACKAGE=VERSION"),
        ("version:=0.2", 400, "names no run: write version:PACKAGE=VERSION"),
        ("commit:-", 400, "names no run: write commit:DIGEST"),
        ("commit:0f3", 400, "names no run: write commit:DIGEST"),
        ("machine:l", 400, "; large, 2 cores, 24 GiB; small, 2 cores, 24 GiB): write one of them whole"),
    ):
        answer = client.get(address("/api/v1/compare", run=asked))
        assert (answer.status_code, words in answer.json()["error"]) == (code, True), answer.text
    answer = client.get(address("/api/v1/compare", run="branch:old", to="branch:old"))
    assert (answer.status_code, f"no run before {run_id(5)} is of branch old" in answer.json()["error"]) == (404, True)


def test_a_kind_of_machine_is_no_name_for_one_that_begins_so(client: TestClient, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "history.db"))) as store:
        for number, cpu in ((7, "N100"), (8, "N1000")):
            job = make_job("digits", "tvm", "measure")
            run = make_run(run_id(number), (job,))
            store.open_run(replace(run, machine=replace(run.machine, cpu=cpu)))
            store.record(run.id, [result := make_result("digits", "tvm", "measure")])
            store.close_run(
                run.id, "complete", judge([result], run.policy, planned=[job.key], today=date(2026, 11, 26))
            )
    document = client.get(address("/api/v1/compare", run="machine:n100", to=run_id(6))).json()
    assert document["new"] == run_id(7)
    document = client.get(address("/api/v1/compare", run="machine:n1000", to=run_id(6))).json()
    assert document["new"] == run_id(8)


def test_the_newest_run_of_each_branch(client: TestClient) -> None:
    branches = client.get("/api/v1/now").json()["branches"]
    assert [(branch["branch"], branch["id"]) for branch in branches] == [
        ("main", run_id(6)),
        ("old", run_id(5)),
        ("feature/<b>", run_id(1)),
    ]
    page = client.get("/").text
    assert "feature/&lt;b&gt;" in page
    assert address("/compare", run=run_id(1), to=run_id(6)).replace("&", "&amp;") in page


def test_the_runs_of_one_branch(client: TestClient) -> None:
    rows = client.get("/api/v1/runs?branch=main").json()["runs"]
    assert [row["id"] for row in rows] == [run_id(number) for number in (6, 4, 2, 0)]
    assert client.get("/api/v1/runs?branch=nothing").json()["runs"] == []
    assert "No run of that branch" in client.get("/runs?branch=nothing").text


def test_machines_beside_one_another(client: TestClient) -> None:
    asked = address("/trend", case="digits", flow="tvm", metric="latency")
    rows = client.get(f"/api/v1{asked}").json()["machines"]
    assert [(entry["machine"].split(",")[0], entry["runs"], entry["newest_run"]) for entry in rows] == [
        ("small", 5, run_id(6)),
        ("large", 2, run_id(3)),
    ]
    small, large = rows
    assert (small["median"], small["least"], small["most"], small["times"]) == pytest.approx((11, 10, 12, 1))
    assert (large["median"], large["times"]) == pytest.approx((5, 5 / 11))
    page = client.get(asked).text
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", page, re.S) if "machine=large%2C" in row]
    assert ">0.45<" in row
    swapped = client.get(address("/trend", case="digits", flow="tvm", metric="latency", machine=large["machine"])).text
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", swapped, re.S) if "machine=small%2C" in row]
    assert ">2.20<" in row

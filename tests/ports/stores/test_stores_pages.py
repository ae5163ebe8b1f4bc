"""Every page of the dashboard over the same history in SQLite and in PostgreSQL: the same answers, and the same refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime

import msgspec
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from assay.core.annotation import Annotation
from assay.judge.verdicts import judge
from assay.stores.sql import SqlStore
from assay.testing.builders import MACHINE, make_job, make_measurement, make_result, make_run
from assay.triage.cause import Cause, Where
from assay.triage.kept_upgrades import keep_upgrade
from assay.triage.symptom import Symptom
from assay.triage.upgrade import Answers, ModelChange, Upgrade
from assay.web.address import address
from assay.web.app import make_app
from assay.web.pages import PAGES
from assay.web.site import Site
from dashboard_history import CASES, COMMIT, FLAKY, FLOWS, HOSTILE, RED, RUNS, WELL, fill_history, run_id

OTHER = replace(MACHINE, cpu="another kind")
NEWEST, BEFORE = run_id(RUNS - 1), run_id(RUNS - 2)
CELL = {"case": WELL, "flow": "tvm"}
BRANCHES = (("main", MACHINE, "0.1"), ("fix", MACHINE, "0.2"), ("main", OTHER, "0.2"), ("main", MACHINE, "0.3"))
ASKED = {
    "/": [{}],
    "/matrix": [
        {}, {"run": NEWEST}, {"case": "CONV"}, {"flow": "TVM", "word": "fail"}, {"run": "last", "outcome": "crash"}, {"case": "%"},
        {"page": 2},
    ],
    "/runs": [{}, {"branch": "main"}, {"branch": "nowhere"}, {"page": 2}],
    "/trend": [
        {**CELL, "metric": "latency", "beside": "onnxruntime"}, {**CELL, "runs": 3}, {**CELL, "since": "2026-11-15", "until": "2026-11-17"},
        {**CELL, "metric": "latency", "machine": OTHER.kind}, {**CELL, "machines": OTHER.kind}, {"case": HOSTILE, "flow": "tvm"}, {},
    ],
    "/compare": [
        {}, {"run": NEWEST}, {"run": NEWEST, "to": run_id(0)}, {"run": run_id(8), "to": run_id(7)}, {"run": run_id(7), "to": run_id(8)},
        {"run": "branch:main", "to": "branch:fix"}, {"run": "branch:main", "to": "branch:main"}, {"run": f"machine:{OTHER.cpu}"},
        {"run": f"commit:{COMMIT[:8]}"}, {"run": "version:tvm=0.3", "to": "version:tvm=0.1"}, {"run": run_id(0)},
        {"run": NEWEST, "page": 2},
        {"run": NEWEST, "to": NEWEST}, {"run": "branch:nowhere"}, {"run": "version:tvm=9"}, {"run": "nobody"},
    ],
    "/search": [{"q": text} for text in (COMMIT[:8], WELL, "mismatch", "SIGSEGV", "CONV2D", "60 S are", "%", "'", "nowhere")],
    "/causes": [{}, {"q": RED[:6]}, {"state": "fixed"}],
    "/cause": [{"id": "nobody"}],
    "/upgrades": [{}, {"id": "nobody"}],
    "/alerts": [{}],
    "/result": [
        CELL, {**CELL, "run": run_id(0)}, {"case": RED, "flow": "tvm"}, {"case": HOSTILE, "flow": "tvm"}, {"case": "nobody", "flow": "tvm"},
    ],
}  # fmt: skip
"""Of each page what is asked of it, refusals among them."""
PICTURES = [
    address("/badge.svg"), address("/badge.svg", case=RED), address("/badge.svg", flow="tvm"), address("/badge.svg", case="nobody"),
    "/badge.svg?case=%00", "/badge.svg?flow=tvm%00", "/changes.atom",
]  # fmt: skip


def _fill(location: str) -> None:
    with closing(SqlStore(location)) as store:
        fill_history(store)
        jobs = tuple(make_job(case, flow, "measure") for case in (WELL, FLAKY) for flow in FLOWS)
        for number, (branch, machine, version) in enumerate(BRANCHES):
            run = make_run(f"2026112{number + 3}T021500-00000b", jobs, branch=branch, machine=machine)
            run = replace(run, started_at=f"2026-11-2{number + 3}T02:15:00+00:00", versions={"tvm": version})
            timed = (make_measurement(median_s=0.001 * (number + 1)),)
            results = [make_result(job.case.name, job.subject, "measure", measurements=timed) for job in jobs]
            store.open_run(run)
            store.record(run.id, results)
            planned = [job.key for job in jobs]
            store.close_run(run.id, "complete", judge(results, run.policy, planned=planned, today=date(2026, 11, 26)))
        store.add_annotation(Annotation("2026-11-21T08:00:00+00:00", "ann", "a new compiler", NEWEST, *CELL.values()))


@pytest.fixture(scope="module")
def clients(
    postgresql_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, TestClient]]:
    import psycopg

    folder = tmp_path_factory.mktemp("pages")
    with psycopg.connect(f"{postgresql_server.replace('+psycopg', '')}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE pages")
    keep_upgrade(
        folder,
        Upgrade("tvm", "0.26.0", "0.27.0", (ModelChange("ocr", Answers.WRONG, detail="x"),)),
        datetime(2026, 2, 2, tzinfo=UTC),
    )
    wrong = Symptom("values", "scores", 0.5)
    cause = Cause(
        f"{RED}|tvm|verify",
        RED,
        "tvm",
        "tvm",
        {"tvm": "0.27.0"},
        Where.NODE,
        wrong,
        wrong,
        nodes=("n",),
        operators=("Conv",),
    )
    (folder / "triage").mkdir()
    (folder / "triage" / "a.json").write_bytes(msgspec.json.encode([cause]))
    locations = str(folder / "history.db"), f"{postgresql_server}/pages"
    for location in locations:
        _fill(location)
    stores = [SqlStore(location, read_only=True) for location in locations]
    apps = [make_app(Site(store, folder, title="Assay"), {"testserver"}) for store in stores]
    try:
        with (
            TestClient(apps[0], raise_server_exceptions=False) as client,
            TestClient(apps[1], raise_server_exceptions=False) as other,
        ):
            yield client, other
    finally:
        for store in stores:
            store.close()


def test_each_page_is_asked() -> None:
    assert ASKED.keys() == {page.path for page in PAGES}
    assert all(len(case) < 200 for case in CASES)


@pytest.mark.parametrize("path", ASKED)
def test_a_page_is_the_same_on_both(clients: tuple[TestClient, TestClient], path: str) -> None:
    codes = set()
    for query in ASKED[path]:
        for form in ({}, {"format": "json"}, {"format": "csv"}):
            answers = [client.get(address(path, **query, **form)) for client in clients]
            assert answers[0].status_code == answers[1].status_code < 500, (query, form, answers[1].text)
            texts = [_without_place(answer.text) for answer in answers]
            assert texts[0] == texts[1], (query, form)
            codes.add(answers[0].status_code)
    assert 200 in codes or path == "/cause"


def test_a_cause_and_an_upgrade_are_the_same_on_both(clients: tuple[TestClient, TestClient]) -> None:
    for path, listed in (("/cause", "causes"), ("/upgrades", "upgrades")):
        identities = [client.get(f"/api/v1/{listed}").json()[listed][0]["id"] for client in clients]
        answers = [client.get(address(f"/api/v1{path}", id=identities[0])) for client in clients]
        assert identities[0] == identities[1]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize("path", PICTURES)
def test_a_badge_and_the_feed_are_the_same_on_both(clients: tuple[TestClient, TestClient], path: str) -> None:
    first, other = (client.get(path) for client in clients)
    assert first.status_code < 500
    assert (first.status_code, _without_place(first.text)) == (other.status_code, _without_place(other.text))


def _without_place(text: str) -> str:
    """Refusals name the history, each its own: the words around it are compared."""
    return " ".join(word for word in text.split() if "history.db" not in word and "postgresql" not in word)

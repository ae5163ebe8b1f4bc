"""What each page says of a known history, what it refuses, and that nothing of a third party is ever markup."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.core.outcome import Outcome
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.ports.browsing import RED as RED_WORD
from assay.ports.browsing import CellQuery
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from assay.web.address import address
from assay.web.app import make_app
from assay.web.pages import PAGES as TABLE
from assay.web.site import Site
from dashboard_history import COMMIT, FLAKY, GREEN, HOSTILE, RED, RUNS, UNDECIDED, WELL, run_id

HOSTILE_RESULT = address("/result", case=HOSTILE, flow="tvm")
RESULT = address("/result", case=RED, flow="tvm")
TREND = address("/trend", case=WELL, flow="tvm", metric="latency", beside="onnxruntime")
HOSTILE_TREND = address("/trend", case=HOSTILE, flow="tvm", metric="seconds")
HOSTILE_SEARCH = address("/search", q=HOSTILE[:12])
PAGES = ("/", "/matrix", "/runs", RESULT, HOSTILE_RESULT, TREND, HOSTILE_TREND, "/compare", HOSTILE_SEARCH)


def body(client: TestClient, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def section(text: str, identity: str) -> str:
    return text.split(f'<h2 id="{identity}">')[1].split("</section>")[0]


def test_now_says_what_is_new_and_what_blocks(client: TestClient) -> None:
    text = body(client, "/")
    assert "Blocked" in text
    assert COMMIT[:12] in text
    assert RED in section(text, "newly-red")
    assert WELL not in section(text, "newly-red")
    assert GREEN in section(text, "newly-green")
    assert RED in section(text, "blocks")
    assert FLAKY in section(text, "flaky")
    assert RED not in section(text, "flaky")
    assert UNDECIDED in section(text, "inconclusive")


def test_now_counts_the_jobs_of_each_model(client: TestClient) -> None:
    document = client.get("/api/v1/now").json()
    models = {model["case"]: (model["red"], model["inconclusive"], model["well"]) for model in document["models"]}
    assert set(list(models)[:3]) == {RED, FLAKY, HOSTILE}, "the worst first"
    assert list(models)[3] == UNDECIDED
    assert {name: models[name] for name in (RED, UNDECIDED, GREEN, WELL)} == {
        RED: (1, 0, 2), UNDECIDED: (0, 3, 0), GREEN: (0, 0, 3), WELL: (0, 0, 6),
    }  # fmt: skip
    shown = section(body(client, "/"), "models")
    assert shown.count('<th scope="row">') == len(models) == document["standing"]["cases"]
    assert address("/matrix", word="red", exact=1, case=RED).replace("&", "&amp;") in shown


def test_what_the_matrix_shows_as_red_is_what_is_counted(tmp_path: Path) -> None:
    """Also what ended by the machine, what passes unexpectedly, and what no verdict was kept of; a name that contains another is not it."""
    store = SqlStore(str(tmp_path / "history.db"))
    names = ("net", "net-large", "net-lost", "net-unjudged")
    jobs = tuple(make_job(name) for name in names)
    made = [
        make_result(name, outcome=Outcome.INFRASTRUCTURE if name == "net-unjudged" else Outcome.OK) for name in names
    ]
    words = (VerdictStatus.XPASS, VerdictStatus.FAIL, VerdictStatus.ERROR)
    verdicts = tuple(Verdict(word, "it is so", job.key) for word, job in zip(words, jobs, strict=False))
    store.open_run(make_run(run_id(1), jobs))
    store.record(run_id(1), made)
    store.close_run(run_id(1), "complete", RunVerdict(verdicts, Verdict(VerdictStatus.FAIL, "FAIL"), 1))
    assert store.matrix(CellQuery(word=RED_WORD), 0, 9, 0, 9).cases == names
    assert store.matrix(CellQuery(run="last", word=RED_WORD, case="net", exact=True), 0, 9, 0, 9).cases == ("net",)
    assert sum(count.jobs for count in store.standing(7.0, 9, 9).of_cases) == len(store.standing(7.0, 9, 9).red) == 4
    store.close()


def test_now_tells_programs_the_same(client: TestClient) -> None:
    document = client.get("/api/v1/now").json()
    assert document["answer"] == "fail"
    assert {cell["case"] for cell in document["standing"]["newly_red"]} == {RED, FLAKY}
    (turning,) = document["standing"]["turning"]
    assert (turning["case"], turning["turns"], turning["results"]) == (FLAKY, RUNS - 1, RUNS)
    assert client.get("/?format=json").json() == document


@pytest.mark.parametrize(
    ("query", "cases"),
    [
        ("case=CONV", {RED}),
        ("outcome=mismatch", {RED}),
        ("word=inconclusive", {UNDECIDED}),
        (f"run={run_id(0)}&outcome=crash", {GREEN}),
        (f"run={run_id(0)}&outcome=mismatch", set()),
        ("run=last&word=red", {RED, FLAKY, HOSTILE}),
        ("case=conv&exact=1", set()),
        (f"case={RED}&exact=1&word=red", {RED}),
        ("run=last&word=fail", {RED, FLAKY, HOSTILE}),
        ("flow=tvm&word=fail", {RED, FLAKY, HOSTILE}),
        ("case=%25", set()),
    ],
)
def test_the_matrix_shows_what_is_asked_for(client: TestClient, query: str, cases: set[str]) -> None:
    assert set(client.get(f"/api/v1/matrix?{query}").json()["cases"]) == cases
    assert body(client, f"/matrix?{query}").count("<tr><th scope=") == len(cases) + bool(cases)


def test_a_cell_leads_to_its_result(client: TestClient) -> None:
    text = body(client, "/matrix")
    links = re.findall(r'class="cell" href="([^"]+)"', text)
    assert len(links) == 18
    for link in links:
        body(client, link.replace("&amp;", "&"))


def test_a_result_has_all_that_is_known(client: TestClient) -> None:
    text = body(client, RESULT)
    assert "an output differs" in text  # the sentence of the table of outcomes
    assert "assay check" in text  # the repro line
    assert "4.250032" in text  # a worst element
    assert text.count("bar-mark") > 10  # histograms and stages
    assert text.count('class="past"') == 1
    assert 'aria-current="true"' in text
    measured = body(client, address("/result", case=WELL, flow="tvm"))
    assert 'class="dots"' in measured
    assert "Median" in measured


def test_a_result_of_an_earlier_run_is_judged_by_itself(client: TestClient) -> None:
    now, before = (client.get(f"/api/v1{RESULT}&run={run_id(n)}").json() for n in (RUNS - 1, 0))
    assert (now["verdict"], before["verdict"]) == ("fail", "pass")


def test_the_runs_are_listed_newest_first(client: TestClient) -> None:
    rows = client.get("/api/v1/runs").json()["runs"]
    assert [row["id"] for row in rows] == [run_id(number) for number in reversed(range(RUNS))]


def test_a_trend_shows_the_change_and_what_came_between(client: TestClient) -> None:
    rows = client.get(f"/api/v1{TREND}").json()["trends"]
    assert [row["flow"] for row in rows] == ["tvm", "onnxruntime"]
    (change,) = rows[0]["changes"]
    assert change["place"] == 8
    assert change["percent"] == pytest.approx(20, abs=1)
    text = body(client, TREND)
    assert "+20.1 %" in text
    assert address("/compare", run=run_id(8), to=run_id(7)).replace("&", "&amp;") in text
    assert text.count('class="spread"') == 2
    inside = client.get(f"/api/v1{TREND}&since=2026-11-19&until=2026-11-20").json()["trends"][0]["points"]
    assert [run_row["run_id"] for run_row in inside] == [run_id(9), run_id(10)]


def test_two_runs_are_compared_as_the_report_does(client: TestClient) -> None:
    document = client.get("/api/v1/compare").json()
    assert (document["new"], document["old"]) == (run_id(RUNS - 1), run_id(RUNS - 2))
    assert (document["newly_red"], document["newly_green"], document["gone"], document["added"]) == (2, 3, 0, 0)
    first = document["changes"]["cells"][0]
    assert (first["case"], first["flow"], first["verdicts"]) == (RED, "tvm", ["pass", "fail"])
    assert "newly red" in body(client, f"/compare?run={run_id(3)}&to={run_id(1)}")


@pytest.mark.parametrize(
    ("text", "found_by"),
    [
        (COMMIT[:8], "by_commit"),
        (WELL, "by_model"),
        ("mismatch", "by_code"),
        ("SIGSEGV", "by_code"),
        ("CONV2D", "cases"),
        ("60 S are", "said"),
    ],
)
def test_one_box_finds_it(client: TestClient, text: str, found_by: str) -> None:
    document = client.get("/api/v1/search", params={"q": text}).json()
    assert document[found_by]
    assert client.get("/search", params={"q": text}).text.count("<h2>") >= 1
    assert "Nothing is like that" in body(client, "/search?q=nowhere-at-all")


def test_a_badge_says_how_it_stands(client: TestClient) -> None:
    for path, code, said in (
        ("/badge.svg", 200, "3 failing"),
        (address("/badge.svg", case=WELL), 200, "passing"),
        (address("/badge.svg", flow="tvm"), 200, "3 jobs failed"),
        (address("/badge.svg", case=RED, flow="tvm", label="<b>"), 200, "fail"),
        (address("/badge.svg", case=RED[:5]), 404, "unknown"),
    ):
        answer = client.get(path)
        assert answer.status_code == code
        title = ElementTree.fromstring(answer.text).find("{http://www.w3.org/2000/svg}title")
        assert title is not None
        assert (title.text or "").endswith(said)


def test_the_feed_has_an_entry_for_each_turn(client: TestClient) -> None:
    root = ElementTree.fromstring(client.get("/changes.atom").text)
    atom = "{http://www.w3.org/2005/Atom}"
    titles = [entry.findtext(f"{atom}title") for entry in root.findall(f"{atom}entry")]
    assert len(titles) == 5
    assert f"red: {RED} on tvm, mismatch" in titles
    for entry in root.findall(f"{atom}entry"):
        assert client.get(entry.find(f"{atom}link").attrib["href"]).status_code == 200  # type: ignore[union-attr]
    identities = [entry.findtext(f"{atom}id") for entry in root.findall(f"{atom}entry")]
    assert len(set(identities)) == len(identities)


def test_the_description_names_every_address_and_resolves(client: TestClient) -> None:
    described = client.get("/api/v1/openapi.json").json()
    assert set(described["paths"]) == {page.api for page in TABLE}
    used = set(re.findall(r"#/components/schemas/([\w.]+)", json.dumps(described)))
    assert used <= described["components"]["schemas"].keys()
    change = described["components"]["schemas"]["MetricDelta"]["description"]
    assert "empty where no line of a page or a report shows the metric" in " ".join(change.split())
    for page in TABLE:
        taken = [parameter["name"] for parameter in described["paths"][page.api]["get"]["parameters"]]
        assert taken == [parameter.name for parameter in page.parameters]


@pytest.mark.parametrize("path", PAGES)
def test_csv_has_a_head_and_no_formula(client: TestClient, path: str) -> None:
    answer = client.get(path + ("&" if "?" in path else "?") + "format=csv")
    head, *lines = csv.reader(io.StringIO(answer.text))
    assert lines
    assert all(len(line) == len(head) for line in lines)
    assert answer.headers["content-disposition"].startswith("attachment")
    assert not any(cell.startswith(("=", "@")) for line in lines for cell in line)


def test_a_history_that_is_gone_is_one_sentence(history: str, tmp_path: Path) -> None:
    shutil.copytree(history, tmp_path / "gone")
    with open_to_read(str(tmp_path / "gone")) as store:
        assert isinstance(store, SqlStore)
        client = TestClient(make_app(Site(store, tmp_path), {"testserver"}), raise_server_exceptions=False)
        assert client.get("/").status_code == 200
        store.close()
        (tmp_path / "gone" / "history.db").unlink()
        for path in ("/matrix", "/runs", RESULT, "/search?q=x", "/badge.svg?case=x"):
            answer = client.get(path)
            assert answer.status_code == 503, path
            assert "cannot be opened" in answer.text


@pytest.mark.parametrize("name", ["path", "query", "asked", "other"])
def test_a_query_may_have_any_name(client: TestClient, name: str) -> None:
    for page in ("/", "/runs", "/matrix", TREND):
        assert client.get(f"{page}{'&' if '?' in page else '?'}{name}=x").status_code == 200

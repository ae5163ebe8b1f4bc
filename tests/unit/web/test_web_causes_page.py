"""Causes on pages: what triage and fuzzing left in the folder of a history, with the life that its runs tell."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.core.outcome import Outcome
from assay.fuzz.corpus import Bucket, Corpus, Session
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from assay.triage.cause import Cause, Where
from assay.triage.since import History, State
from assay.triage.symptom import Symptom
from assay.web.app import make_app
from assay.web.causes_page import SHOWN
from assay.web.site import Site
from dashboard_history import GREEN, HOSTILE, RED, RUNS, run_id

VERSIONS = {"tvm": "0.27.0"}
WRONG = Symptom("values", "scores", 0.5)


def cause(case: str, flow: str = "tvm", since: History = History(), **more: object) -> Cause:
    key = f"{case}|{flow}|verify"
    made = Cause(key, case, flow, "tvm", VERSIONS, Where.NODE, WRONG, WRONG, nodes=("n",), operators=("Conv", "Relu"))
    return msgspec.structs.replace(
        made, folder=f"/gone/{case}", found_at="2026-11-21T03:00:00+00:00", since=since, **more
    )


def keep(folder: Path, name: str, *causes: Cause) -> None:
    (folder / "triage").mkdir(exist_ok=True)
    (folder / "triage" / name).write_bytes(msgspec.json.encode(list(causes)))


@pytest.fixture
def folder(history: str, tmp_path: Path) -> Path:
    made = Path(shutil.copytree(history, tmp_path / "history"))
    fixed = History({"0.26.0": State.WRONG, "0.27.0": State.WRONG, "0.28.0": State.RIGHT}, complete=True)
    keep(made, "a.json", cause(RED), cause(GREEN, since=fixed))
    keep(made, "b.json", cause(RED), cause(HOSTILE, operators=(HOSTILE,)))  # the first is in both
    (made / "triage" / "pattern-1.json").write_text("{}")
    (made / "triage" / "broken.json").write_text("[{")
    buckets = {
        "k1": Bucket("k1" * 20, "onnxruntime", "onnxruntime", "values", "wrong", ("Neg",), title="ort: Neg", count=7,
                     found_at="2026-11-20T03:00:00+00:00", last_at="2026-11-22T03:00:00+00:00"),
        "k2": Bucket("k2" * 20, "onnxruntime", "onnxruntime", "crash", "crash", ("Loop",), title="ort: Loop",
                     known="docs/findings/loop.py", found_at="2026-11-19T03:00:00+00:00"),
        "k3": Bucket("k3" * 20, "onnxruntime", "onnxruntime", "values", "disputed", ("Abs",), title="ort: Abs"),
    }  # fmt: skip
    Corpus(made / "fuzz").write(Session(seed=1, buckets=buckets))
    return made


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with open_to_read(str(folder)) as store:
        yield TestClient(make_app(Site(store, folder), {"testserver"}), raise_server_exceptions=False)


def test_each_cause_once_with_its_life(client: TestClient) -> None:
    document = client.get("/api/v1/causes").json()
    lives = {life["title"] if life["found_by"] == "fuzz" else life["case"]: life for life in document["causes"]}
    assert (document["all"], len(document["causes"])) == (5, 5)
    assert sorted(lives) == sorted([RED, GREEN, HOSTILE, "ort: Neg", "ort: Loop"])
    red, green, neg = lives[RED], lives[GREEN], lives["ort: Neg"]
    newest = run_id(RUNS - 1)
    assert (red["first_run"], red["last_run"], red["fixed_run"], red["fixed_in"]) == (newest, newest, "", "")
    assert (green["first_run"], green["last_run"]) == (run_id(0), run_id(RUNS - 2))
    assert (green["fixed_run"], green["fixed_in"]) == (newest, "0.28.0")
    assert (neg["count"], neg["first_at"], neg["last_at"]) == (
        7,
        "2026-11-20T03:00:00+00:00",
        "2026-11-22T03:00:00+00:00",
    )
    states = [row.split(",")[2] for row in client.get("/causes?format=csv").text.splitlines()[1:]]
    assert states == ["open", "open", "open", "known", "fixed"]


def test_the_pages_say_it(client: TestClient) -> None:
    page = client.get("/causes").text
    assert "<script>alert" not in page
    rows = re.findall(r"<tr>.*?</tr>", page, re.S)
    (green,) = [row for row in rows if "0.28.0" in row]
    assert ">fixed</span>" in green
    (address,) = re.findall(r'href="(/cause\?id=\w+)"', green)
    text = client.get(address).text
    assert "tvm 0.28.0; ok again in" in text
    assert "0.28.0 is right again" in text
    assert "not yet" in client.get(re.findall(r'href="(/cause\?id=\w+)"', page)[0]).text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("q=neg", 1),
        ("q=conv", 2),
        ("state=fixed", 1),
        ("found_by=fuzz", 2),
        ("backend=tvm&state=open", 2),
        ("q=nothing", 0),
    ],
)
def test_filters_stand_in_the_address(client: TestClient, query: str, count: int) -> None:
    assert client.get(f"/api/v1/causes?{query}").json()["all"] == count
    assert client.get(f"/causes?{query}").status_code == 200


def test_many_are_paged(client: TestClient, folder: Path) -> None:
    keep(folder, "many.json", *(cause(f"case{number}") for number in range(2 * SHOWN)))
    sizes = [len(client.get(f"/api/v1/causes?page={page}").json()["causes"]) for page in (1, 2, 3)]
    assert sizes == [SHOWN, SHOWN, 5]
    assert client.get("/causes?page=4").status_code == 404
    assert client.get("/cause?id=nothing").status_code == 404


RELEASES = History({"1.0.0": State.WRONG, "1.1.0": State.RIGHT}, complete=True)
FUTURE = History({"1.0.0": State.WRONG, "999.0.0": State.RIGHT}, complete=True)


def test_what_is_still_red_is_open_whatever_release_is_right(client: TestClient, folder: Path) -> None:
    keep(folder, "a.json", cause(RED, since=FUTURE))
    (folder / "triage" / "b.json").unlink()
    (life,) = client.get("/api/v1/causes?found_by=triage").json()["causes"]
    assert (life["fixed_in"], life["fixed_run"]) == ("999.0.0", "")
    assert client.get("/api/v1/causes?found_by=triage&state=open").json()["all"] == 1
    assert "open, right in 999.0.0" in client.get("/causes").text
    assert "open, right in tvm 999.0.0" in client.get(f"/cause?id={life['id']}").text


@pytest.mark.parametrize(("since", "flow", "state"), [(RELEASES, "onnxruntime", "fixed"), (FUTURE, "onnxruntime", "open"),
                                                      (RELEASES, "onnxruntime@old", "open")])  # fmt: skip
def test_what_fuzzing_met_is_fixed_by_the_release_that_is_installed(
    client: TestClient, folder: Path, tmp_path: Path, since: History, flow: str, state: str
) -> None:
    (tmp_path / "cause.json").write_bytes(msgspec.json.encode(cause("x", since=since)))
    bucket = Bucket("k1" * 20, flow, "onnxruntime", "values", "wrong", ("Neg",), title="n", folder=str(tmp_path))
    Corpus(folder / "fuzz").write(Session(seed=1, buckets={"k1": bucket}))
    assert client.get(f"/api/v1/causes?found_by=fuzz&state={state}").json()["all"] == 1


def test_an_ok_run_of_another_branch_fixes_nothing(folder: Path) -> None:
    ran = (("feature", Outcome.MISMATCH), ("", Outcome.OK), ("feature", Outcome.MISMATCH), ("main", Outcome.OK))
    with closing(SqlStore(str(folder / "history.db"))) as store:
        for number, (branch, outcome) in enumerate(ran, 1):
            job = make_job("new", "tvm", "verify")
            run = make_run(f"2026112{number}T030000-00000{number}", (job,), branch=branch)
            store.open_run(run)
            store.record(run.id, [replace(make_result("new", "tvm", "verify"), outcome=outcome)])
    keep(folder, "a.json", cause("new"))
    with open_to_read(str(folder)) as stores:
        client = TestClient(make_app(Site(stores, folder), {"testserver"}))
        (life,) = client.get("/api/v1/causes?q=new").json()["causes"]
    assert (life["first_run"][7], life["last_run"][7], life["fixed_run"]) == ("1", "3", "")


def test_without_causes_the_page_says_how_to_find_some(client: TestClient, folder: Path) -> None:
    shutil.rmtree(folder / "triage")
    (folder / "fuzz" / "session.json").write_text('{"seed": 1, "format": 99}')  # of another version
    answer = client.get("/causes")
    assert (answer.status_code, "None is known here" in answer.text) == (200, True)

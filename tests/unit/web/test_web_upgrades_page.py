"""What `assay upgrade` left with a history, as a page, JSON and CSV."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from test_web_causes_page import cause, keep

from assay.commands.composition import open_to_read
from assay.triage.kept_upgrades import keep_upgrade, read_upgrades
from assay.triage.speed import Speed
from assay.triage.upgrade import Answers, ModelChange, Upgrade
from assay.web.app import make_app
from assay.web.site import Site
from dashboard_history import HOSTILE, RED

GOES = Upgrade("onnxruntime", "1.30.0", "1.31.1", (ModelChange("digits", Answers.NEARER, 2e-7, 1e-7),))
STAYS = Upgrade(
    *("tvm", "0.26.0", "0.27.0"),
    (
        ModelChange("ocr", Answers.WRONG, detail=HOSTILE),
        ModelChange("digits", Answers.SAME, speed=Speed.SLOWER, ratio=1.5),
        ModelChange("vad", Answers.SAME),
    ),
    (cause(RED), cause("ocr")),
)


@pytest.fixture
def client(history: str, tmp_path: Path) -> Iterator[TestClient]:
    folder = Path(shutil.copytree(history, tmp_path / "history"))
    keep(folder, "a.json", cause(RED))
    for month, upgrade in enumerate((GOES, STAYS), 1):
        keep_upgrade(folder, upgrade, datetime(2026, month, 2, 10, tzinfo=UTC))
    (folder / "upgrades" / "20270101T000000-cut.json").write_text('{"at": "2027')
    with open_to_read(str(folder)) as store:
        yield TestClient(make_app(Site(store, folder), {"testserver"}))


def test_the_newest_stands_first_with_the_way_and_what_speaks_against_it(client: TestClient) -> None:
    rows = client.get("/api/v1/upgrades").json()["upgrades"]
    assert [(entry["backend"], entry["at"], entry["way"]) for entry in rows] == [
        ("tvm", "2026-02-02T10:00:00+00:00", "stay"),
        ("onnxruntime", "2026-01-02T10:00:00+00:00", "go"),
    ]
    assert rows[0]["says"].startswith("upgrade tvm 0.26.0 -> 0.27.0: stay: ocr wrong now")
    assert [(name, against) for name, _, against in rows[0]["models"]] == [
        ("ocr", True),
        ("digits", True),
        ("vad", False),
    ]
    page = client.get("/upgrades").text
    assert page.index("tvm 0.26.0 → 0.27.0") < page.index("onnxruntime 1.30.0 → 1.31.1")
    assert "nearer to float64 (relative error 2e-07, now 1e-07)" in page
    assert HOSTILE not in page


def test_a_cause_leads_to_its_page_where_it_is_still_known(client: TestClient) -> None:
    (known, gone) = client.get("/api/v1/upgrades").json()["upgrades"][0]["causes"]
    assert client.get(f"/cause?id={known[1]}").status_code == 200
    assert gone[1] == ""


def test_one_has_an_address_and_every_model_a_row(client: TestClient) -> None:
    upgrade_id = client.get("/api/v1/upgrades").json()["upgrades"][1]["id"]
    page = client.get(f"/upgrades?id={upgrade_id}").text
    assert ("1.31.1" in page, "0.27.0" in page) == (True, False)
    assert client.get("/upgrades?id=nothing").status_code == 404
    assert client.get("/upgrades?page=2").status_code == 404
    assert len(client.get("/upgrades?format=csv").text.splitlines()) == 5


def test_a_folder_without_any_says_how_to_make_one(history: str) -> None:
    assert not list(read_upgrades(Path(history)))
    with open_to_read(history) as store:
        said = TestClient(make_app(Site(store, Path(history)), {"testserver"})).get("/upgrades").text
    assert "assay upgrade BACKEND OLD NEW --models FOLDER" in said

"""What strangers read names no folder of the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_queue import decided, head
from starlette.applications import Starlette
from starlette.testclient import TestClient

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.robot.database import Database
from assay_zoo.robot.pages import page_routes
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.redact import hides_folders

SECRET = "/srv/robot"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("/srv/robot/data/records/a-1.json", "records/a-1.json"),
        ("cannot read '/srv/robot/data': full", "cannot read 'data': full"),
        ("/srv/robot/zoo.git", "zoo.git"),
        ("file:///srv/robot/zoo.git does not answer", "file://zoo.git does not answer"),
        ("/srv/robot/data-old and /srv/robotic stay", "data-old and /srv/robotic stay"),
        ("https://host/srv/robot/data stays", "https://host/srv/robot/data stays"),
        ("weights.bin links to /etc/passwd", "weights.bin links to /etc/passwd"),
        ("(/srv/robot/data/work/7-1/zoo/submissions/a/x.onnx)", "(work/7-1/zoo/submissions/a/x.onnx)"),
        ("/srv/robot/data.", "data."),
        ("/srv/robot/data//a", "a"),
    ],
)
def test_a_file_is_named_from_the_robots_folder_on(message: str, shown: str) -> None:
    hides = hides_folders([SECRET, "/srv/robot/data", Path("/srv/robot/zoo.git"), "/", "", "git@host:zoo.git"])
    assert hides(message) == shown


def test_no_page_and_no_twin_for_machines_names_a_folder_of_the_server(tmp_path: Path) -> None:
    queue = Queue(Database(str(tmp_path / "robot.db")))
    identity, _ = queue.enqueue(f"{SECRET}/zoo.git", head(1, f"see {SECRET}/title"), "a")
    lease = queue.lease("w")
    assert lease is not None
    check = Check(name="files.all", outcome=CheckOutcome.FAILED, sentence=f"{SECRET}/data/x.onnx", path=f"{SECRET}/y")
    queue.note(identity, f"cannot be fetched now: '{SECRET}/zoo.git' is no repository")
    decided(queue, lease, (check,))
    queue.promoted(identity, "", f"not merged: {SECRET}/data is full")
    addresses = ["/", "/queue.json", f"/submissions/{identity}", f"/submissions/{identity}.json"]
    with TestClient(Starlette(routes=page_routes(queue, hides=hides_folders([SECRET])))) as client:
        for address in addresses:
            answer = client.get(address)
            assert answer.status_code == 200, address
            assert SECRET not in answer.text, address
        assert "zoo.git" in client.get(f"/submissions/{identity}").text
    queue.database.close()


@pytest.mark.parametrize("address", ["/", "/queue.json", "/submissions/1", "/submissions/1.json"])
def test_a_page_says_that_the_database_is_away_and_works_again_when_it_is_back(tmp_path: Path, address: str) -> None:
    database = tmp_path / "robot.db"
    queue = Queue(Database(str(database)))
    queue.enqueue("zoo", head(1), "a")
    with TestClient(Starlette(routes=page_routes(queue)), raise_server_exceptions=False) as client:
        assert client.get(address).status_code == 200
        queue.database.close()
        for each in tmp_path.glob("robot.db*"):
            each.rename(tmp_path / f"away-{each.name}")
        database.mkdir()
        away = client.get(address)
        assert away.status_code == 503, away.text
        assert "does not answer just now. Nothing is lost" in away.text
        assert str(tmp_path) not in away.text
        assert ("error" in away.json()) if address.endswith(".json") else "<p>" in away.text
        database.rmdir()
        for each in tmp_path.glob("away-*"):
            each.rename(tmp_path / each.name.removeprefix("away-"))
        assert client.get(address).status_code == 200
    queue.database.close()

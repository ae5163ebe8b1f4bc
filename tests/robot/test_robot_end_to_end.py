"""From a pushed branch to a changed zoo, nothing faked: git, the robot's process, the sandbox, the status branch, the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from robot_process import AUTHOR, Repository, Robot

from assay.launch.sandbox.bubblewrap import Bubblewrap
from assay_zoo.check import EXECUTING, CheckOutcome
from assay_zoo.manifest import read_manifest

NAME, OTHER = "digit-classifier", "other-digits"
RUNS_IT = ("functionality", "accuracy", "performance")
"""Groups of checks that execute what was submitted."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "zoo"
pytestmark = pytest.mark.skipif(not Bubblewrap().available().available, reason="the sandbox cannot be had here")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Repository, Robot]]:
    """The zoo of the example, without its models; nobody is known to it."""
    folder = tmp_path_factory.mktemp("robot")
    repository = Repository(folder)
    repository.put(EXAMPLE / "zoo.toml", "zoo.toml", "The policy of the example")
    for part in ("scenarios", "datasets"):
        repository.put(EXAMPLE / part, part, f"The {part} of the example")
    yield from _running(folder, repository)


def _running(folder: Path, repository: Repository) -> Iterator[tuple[Repository, Robot]]:
    robot = Robot(folder, repository)
    robot.start()
    robot.until("the robot to be ready", lambda: robot.queue() is not None and _ready(robot))
    yield repository, robot
    robot.stop()


def _ready(robot: Robot) -> bool:
    import httpx

    try:
        return bool(robot.get("/readyz").status_code == 200)
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def submitted(running: tuple[Repository, Robot]) -> str:
    """The commit of a good model: handed in once, though the test that follows it is repeated."""
    repository, _ = running
    return repository.submit_folder(EXAMPLE / "models" / NAME / "1.0", NAME)


def _approved(robot: Robot, sha: str) -> dict[str, Any]:
    """The submission after a second look, for its author is new here; at the first look nothing of it was executed."""
    first = robot.decided(sha)
    if first["answer"] == "needs a person":
        waits = robot.get(f"/submissions/{first['id']}.json").json()["decisions"][0]
        assert not [entry for entry in waits["checks"] if entry["name"].startswith(RUNS_IT) and entry.get("executed")]
        assert robot.approve(first["id"]) == 202
        robot.until("the second look", lambda: any(_is_second(entry, sha) for entry in robot.queue()))
    return robot.decided(sha)


def _is_second(entry: dict[str, Any], sha: str) -> bool:
    return bool(entry["sha"] == sha and entry["round"] == 2)


def test_a_pushed_branch_is_approved_and_becomes_a_model_of_the_zoo(
    running: tuple[Repository, Robot], submitted: str
) -> None:
    """Its accuracy is computed again on data that lie in the zoo, and not in the submission."""
    repository, robot = running
    sha = submitted
    submission = _approved(robot, sha)
    assert submission["round"] == 2, "its author is new"
    assert robot.approve(submission["id"]) == 409
    page = f"/submissions/{submission['id']}"
    decision = robot.get(f"{page}.json").json()["decisions"][0]
    assert submission["answer"] == "promote", decision["reasons"]
    bad = (CheckOutcome.FAILED, CheckOutcome.UNDECIDED, CheckOutcome.INFRASTRUCTURE)
    assert [check["name"] for check in decision["checks"] if check["outcome"] in bad] == []
    assert {check["name"].partition(".")[0] for check in decision["checks"] if check.get("executed")} >= set(EXECUTING)
    assert {check["name"]: check["outcome"] for check in decision["checks"]}["accuracy.recomputed"] == "passed"

    promoted = robot.until("the merge", lambda: robot.get(f"{page}.json").json()["submission"]["promoted"])
    manifest = json.loads(repository.shown("main", "manifest.json"))
    version = manifest["models"][NAME]["versions"][0]
    assert manifest["models"][NAME]["current"] == version["version"] == "1.0"
    assert version["author"] == AUTHOR
    assert version["digest"] == decision["digest"] == read_manifest(EXAMPLE).models[NAME].versions[0].digest
    assert f"Submitted-by: {AUTHOR}" in repository.message(promoted)
    assert version["accuracy"]["measured"] == pytest.approx(version["accuracy"]["claimed"], abs=1e-3)
    assert repository.shown("main", f"models/{NAME}/1.0/metadata.toml")
    assert not repository.shown("main", f"submissions/{NAME}/metadata.toml")
    assert NAME in repository.shown("main", "README.md")
    assert repository.parents(promoted)[1] == sha, "the submitter's commit is merged"

    status = robot.until("the last status", lambda: (repository.status(sha, NAME) or {}).get("promoted"))
    assert status == promoted
    comment = repository.shown("assay-status", f"{NAME}/{sha}.md")
    assert "accepted" in comment
    assert f"{robot.site}{page}" in comment
    text = robot.get(page).text
    assert "In the zoo by commit" in text
    for address in (
        page,
        f"{page}.json",
        "/queue.json",
    ):
        assert str(repository.bare.parent) not in robot.get(address).text, (
            f"{address} shows where the server keeps its files"
        )
    assert promoted in text


def test_what_the_robot_writes_is_its_own_and_what_it_pushes_is_everybody_s(
    running: tuple[Repository, Robot], submitted: str
) -> None:
    repository, robot = running
    robot.decided(submitted)
    private = (robot.data, robot.data / "robot.db", robot.data / "mirror.git", *(robot.data / "records").iterdir())
    assert [path for path in private if path.stat().st_mode & 0o077] == [], "what the robot writes is its own"
    objects = [path for path in (repository.bare / "objects").rglob("*") if path.is_file()]
    assert all(path.stat().st_mode & 0o044 for path in objects), "what it pushes is everybody's"


def test_a_broken_one_is_declined_with_its_reason_on_every_side(running: tuple[Repository, Robot]) -> None:
    repository, robot = running
    before = repository.shown("main", "manifest.json")
    sha = repository.submit("cut-off", "model-is-cut-off", name=OTHER)
    submission = robot.decided(sha)
    assert submission["answer"] == "decline"
    status = robot.until(
        "the status", lambda: repository.status(sha, OTHER) if repository.status(sha, OTHER).get("answer") else {}
    )
    assert status["answer"] == "decline"
    assert [check["name"] for check in status["checks"] if check["outcome"] == "failed"] == ["files.readable"]
    assert "model.onnx" in repository.shown("assay-status", f"{OTHER}/{sha}.md")
    assert "model.onnx" in robot.get(f"/submissions/{submission['id']}").text
    assert repository.shown("main", "manifest.json") == before


def test_a_new_push_takes_the_place_of_the_one_before(running: tuple[Repository, Robot]) -> None:
    repository, robot = running
    served = repository.shown("main", "manifest.json")
    first = repository.submit("again", "pickle", NAME, extra="first")
    robot.until("the first to be seen", lambda: [entry for entry in robot.queue() if entry["sha"] == first])
    second = repository.submit("again", "model-is-cut-off", NAME, extra="second")
    submission = robot.decided(second)
    assert submission["answer"] == "decline"
    assert robot.decided(first)["state"] in ("superseded", "decided")
    closed = [entry["sha"] for entry in robot.queue() if entry["name"] == NAME]
    assert closed[:2] == [second, first]
    # What is served stays what it is, whatever somebody submits.
    assert repository.shown("main", "manifest.json") == served


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digit-detector", "digit-segmenter"])
def test_other_models_of_scenarios_with_data_are_promoted(running: tuple[Repository, Robot], name: str) -> None:
    repository, robot = running
    sha = repository.submit_folder(EXAMPLE / "models" / name / "1.0", name)
    submission = _approved(robot, sha)
    address = f"/submissions/{submission['id']}.json"
    decision = robot.get(address).json()["decisions"][0]
    assert submission["answer"] == "promote", decision["reasons"]
    assert {check["name"]: check["outcome"] for check in decision["checks"]}["accuracy.recomputed"] == "passed"
    promoted = robot.until("the merge", lambda: robot.get(address).json()["submission"]["promoted"])
    (version,) = json.loads(repository.shown("main", "manifest.json"))["models"][name]["versions"]
    assert version["digest"] == read_manifest(EXAMPLE).models[name].versions[0].digest
    assert f"Submitted-by: {AUTHOR}" in repository.message(promoted)


def test_another_author_needs_a_person(running: tuple[Repository, Robot]) -> None:
    repository, robot = running
    repository.write_as("tom@example.org")
    try:
        sha = repository.submit("taken-over", name=NAME, extra="mine now")
    finally:
        repository.write_as(AUTHOR)
    submission = robot.decided(sha)
    decision = robot.get(f"/submissions/{submission['id']}.json").json()["decisions"][0]
    assert submission["answer"] in ("decline", "needs a person")
    assert any("tom@example.org submits it" in check["sentence"] for check in decision["checks"])

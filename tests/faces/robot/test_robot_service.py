"""The whole robot: a webhook comes in, a real child inspects, and both forges are told; what fails blames nobody."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from fake_github import FakeGithub
from fake_gitlab import TOKEN, FakeGitlab
from live_server import serving, until_true
from repositories import blob_of, git, make_zoo, put, put_entries
from starlette.responses import JSONResponse
from test_robot_webhooks import NEW, signed

from assay.errors import HarnessError, UsageError
from assay.faces.robot.app import app_of
from assay.faces.robot.child import Ending, inspect_in_child
from assay.faces.robot.config import load_robot
from assay.faces.robot.rows import Decided, State
from assay.faces.robot.service import Service
from assay.launch.sandbox import Bubblewrap
from assay.zoo.check import CheckOutcome

OPERATOR = "operator-token-0123456789"
PATIENT = "retry_s = 0\nattempts = 2\n"


def robot_toml(folder: Path, source: str = "[git]\npoll_s = 0.2\n", more: str = "") -> Path:
    (folder / "hook").write_text(NEW)
    (folder / "token").write_text(TOKEN)
    (folder / "operator").write_text(OPERATOR)
    path = folder / "robot.toml"
    path.write_text(
        f'public_url = "https://zoo.example"\nsandbox = "optional"\n{more}[zoo]\nrepository = "zoo.git"\n{source}'
        f'[operator]\ntoken = {{ file = "operator" }}\n[limits]\n{PATIENT}'
    )
    return path


@contextmanager
def robot(config: Path) -> Iterator[tuple[Service, httpx.Client]]:
    service = Service(load_robot(config))
    with serving(app_of(service)) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield service, client


def decisions(service: Service, identity: int) -> tuple[Decided, ...]:
    found = service.queue.whole(identity)
    return found.decisions if found else ()


def test_a_pull_request_from_webhook_to_check_run(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    sha = put(
        zoo, "refs/pull/1/head", {"submissions/digits/README.md": "# A <b>bad</b> one @everybody\n", "zoo.toml": "x"}
    )
    fake = FakeGithub("zoo/models", token=TOKEN)
    fake.add_pull(1, sha)
    down = JSONResponse({"message": "Server Error"}, 502)
    fake.faults = [("GET", "/pulls", down)] * 4 + [("POST", "/comments", down)]
    with serving(fake.app()) as forge:
        source = (
            f'[github]\nrepository = "zoo/models"\napi = "{forge}"\ntoken = {{ file = "token" }}\n'
            '[webhook]\nsecrets = [{ file = "hook" }]\n'
        )
        with robot(robot_toml(tmp_path, source)) as (service, client):
            until_true(lambda: len(service.queue.submissions()) == 1)
            body = json.dumps({"pull_request": {"number": 1}}).encode()
            hook = client.post("/hooks/github", content=body, headers=signed(body, NEW))
            assert hook.status_code == 202
            until_true(lambda: [one["state"] for one in fake.statuses[-1:]] == ["failure"], seconds=120)
            until_true(lambda: len(fake.comments) == 1)
            until_true(lambda: service.queue.counts().unsent == 0)
            (one,) = service.queue.submissions()
            assert (one.answer, one.state, one.number, one.author) == ("decline", State.DECIDED, 1, "octocat")
            assert {status["state"] for status in fake.statuses} == {"pending", "failure"}
            assert fake.statuses[-1]["target_url"] == f"https://zoo.example/submissions/{one.id}"
            assert "artifacts" in fake.comments[0]["body"]
            whole = service.queue.whole(one.id)
            assert whole is not None
            assert whole.decision is not None
            assert Path(whole.decision.record).is_file()
            assert fake.faults == [], "the forge was down twice, and nothing was lost"
            text = client.get("/metrics").text
            assert 'assay_robot_decisions_total{answer="decline"} 1.0' in text
            assert 'assay_robot_webhook_seconds_count{status="202"} 1.0' in text
            assert client.get("/healthz").json() == {"alive": True}
            assert "<title>Queue · tiny</title>" in client.get("/").text
            assert client.get(f"/submissions/{one.id}").status_code == 200
            again = {"action": "rerequested", "check_run": {"head_sha": sha, "external_id": f"{one.id}.1"}}
            body = json.dumps(again).encode()
            hook = client.post("/hooks/github", content=body, headers=signed(body, NEW, "guid-2", "check_run"))
            assert hook.status_code == 202
            until_true(lambda: len(decisions(service, one.id)) == 2, seconds=120)
            until_true(lambda: service.queue.counts().unsent == 0)
            assert len(fake.comments) == 1
    assert TOKEN not in (tmp_path / "robot" / "robot.db").read_bytes().decode("latin-1")


def test_a_merge_request_is_told_at_gitlab(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    sha = put(zoo, "refs/merge-requests/3/head", {"submissions/digits/README.md": "# bad\n"})
    fake = FakeGitlab()
    fake.add_request(3, sha, pipeline=5)
    fake.add_request(4, put(zoo, "refs/merge-requests/4/head", {"docs/x.md": "no submission"}))
    with serving(fake.app()) as forge:
        source = f'[gitlab]\nproject = "zoo/models"\napi = "{forge}"\ntoken = {{ file = "token" }}\n'
        with robot(robot_toml(tmp_path, source)) as (service, _):
            until_true(lambda: fake.notes and service.queue.counts().unsent == 0, seconds=120)
            assert [one["state"] for one in fake.statuses.values()] == ["failed"]
            assert [one["number"] for one in fake.notes] == [3], "other merge requests are none of the robot's"
            fake.requests[3]["state"] = "closed"


def test_an_inspection_that_cannot_be_blames_nobody_and_can_be_asked_for_again(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git", {"zoo.toml": "name = 3\n"})
    put(zoo, "refs/heads/submission/a", {"submissions/a/README.md": "# x\n"})
    with robot(robot_toml(tmp_path)) as (service, client):
        until_true(lambda: service.queue.submissions(state="decided"), seconds=120)
        (one,) = service.queue.submissions()
        whole = service.queue.whole(one.id)
        assert whole is not None
        assert whole.decision is not None
        assert (one.answer, one.attempts) == ("retry", 1), "two attempts, the second one decided"
        assert [check.outcome for check in whole.decision.checks] == [CheckOutcome.INFRASTRUCTURE]
        assert "'name' must be a text" in whole.decision.reasons[0]
        put(zoo, "refs/heads/main", {"zoo.toml": "name = 'mended'\n"})
        path = f"/submissions/{one.id}/rerun"
        assert client.post(path).status_code == 401
        assert client.post(path, headers={"authorization": "Bearer wrong"}).status_code == 401
        assert client.post(path, data={"token": OPERATOR[:-1]}).status_code == 401
        assert client.get(path).status_code in (404, 405)
        assert client.post("/submissions/999/rerun", data={"token": OPERATOR}).status_code == 409
        assert client.post(path, headers={"authorization": f"Bearer {OPERATOR}"}).status_code == 202
        until_true(lambda: service.queue.submissions(answer="decline"), seconds=120)
        until_true(lambda: service.queue.counts().unsent == 0)
    told = json.loads(git(zoo, "show", f"assay-status:a/{one.sha}.json"))
    assert (told["answer"], told["state"]) == ("decline", "decided")


def test_a_folder_that_is_a_link_is_never_followed(tmp_path: Path) -> None:
    """Else a folder of the robot's machine would be taken for the submission."""
    zoo = make_zoo(tmp_path / "zoo.git")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "README.md").write_text("the robot's own")
    link = blob_of(zoo, str(secret).encode())
    put_entries(zoo, "refs/heads/submission/a", [f"120000 {link}\tsubmissions/a"])
    with robot(robot_toml(tmp_path)) as (service, _):
        until_true(lambda: service.queue.submissions(state="decided"))
        (one,) = service.queue.submissions()
        whole = service.queue.whole(one.id)
        assert whole is not None
        assert whole.decision is not None
        assert whole.decision.reasons == ("files.links: submissions/a is a link: a submission is a folder",)
        until_true(lambda: service.queue.counts().unsent == 0)


def test_a_branch_without_its_folder_is_declined_without_a_child(tmp_path: Path, location: str) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    put(zoo, "refs/heads/submission/nothing", {"elsewhere/x": "1"})
    with robot(robot_toml(tmp_path, more=f'database = "{location}"\n')) as (service, _):
        until_true(lambda: service.queue.submissions(answer="decline"))
        (one,) = service.queue.submissions()
        whole = service.queue.whole(one.id)
        assert whole is not None
        assert whole.decision is not None
        assert "the commit has no folder submissions/nothing" in whole.decision.reasons[0]
        git(zoo, "update-ref", "-d", "refs/heads/submission/nothing")
        until_true(lambda: service.queue.counts().unsent == 0)


def test_two_robots_do_not_share_a_folder(tmp_path: Path) -> None:
    make_zoo(tmp_path / "zoo.git")
    config = load_robot(robot_toml(tmp_path))
    first = Service(config)
    with pytest.raises(UsageError, match="another robot works in"):
        Service(config)
    first.close()
    Service(config).close()


def test_without_a_sandbox_nothing_starts_unless_the_operator_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_zoo(tmp_path / "zoo.git")
    monkeypatch.setattr("assay.faces.robot.service.Bubblewrap", lambda: Bubblewrap("bwrap-that-is-not-there"))
    path = robot_toml(tmp_path)
    Service(load_robot(path)).close()
    path.write_text(path.read_text().replace('sandbox = "optional"', ""))
    with pytest.raises(HarnessError, match="there is no sandbox for the code of submissions"):
        Service(load_robot(path))


def test_readiness_has_reasons(tmp_path: Path) -> None:
    make_zoo(tmp_path / "zoo.git")
    service = Service(load_robot(robot_toml(tmp_path)))
    assert service.health.ready() == {}
    (tmp_path / "zoo.git").rename(tmp_path / "gone.git")
    service.health._at = -1e9
    assert set(service.health.ready()) == {"repository"}
    service.close()


def _root(folder: Path) -> Path:
    root = folder / "zoo"
    (root / "submissions" / "a").mkdir(parents=True)
    (root / "submissions" / "a" / "README.md").write_text("# x\n")
    (root / "zoo.toml").write_text('name = "tiny"\n')
    (folder / "scratch").mkdir()
    return root


def test_a_child_that_is_killed_costs_one_attempt_and_names_the_signal(tmp_path: Path) -> None:
    root = _root(tmp_path)

    def kill() -> bool:
        for child in psutil.Process().children():
            if "assay.faces.robot.inspecting" in " ".join(child.cmdline()):
                os.kill(child.pid, signal.SIGKILL)
        return True

    ended = inspect_in_child(
        root, "a", str(tmp_path / "history"), tmp_path / "scratch", limit_s=60, beat=kill, beat_s=0.2,
        stopping=lambda: False, heard=lambda _: None,
    )  # fmt: skip
    assert ended.ending is Ending.FAILED
    assert ended.sentence.startswith("the inspection was ended by SIGKILL")


@pytest.mark.parametrize(
    ("ending", "limit_s", "beat", "stop"),
    [(Ending.LOST, 60.0, False, False), (Ending.STOPPED, 60.0, True, True), (Ending.FAILED, 0.3, True, False)],
)
def test_a_child_never_outlives_its_reason(
    ending: Ending, limit_s: float, beat: bool, stop: bool, tmp_path: Path
) -> None:
    ended = inspect_in_child(
        _root(tmp_path), "a", str(tmp_path / "history"), tmp_path / "scratch", limit_s=limit_s, beat=lambda: beat,
        beat_s=0.1, stopping=lambda: stop, heard=lambda _: None,
    )  # fmt: skip
    assert ended.ending is ending
    names = [" ".join(one.cmdline()) for one in psutil.Process().children(recursive=True)]
    assert not [name for name in names if "robot.inspecting" in name]


def test_the_child_sees_no_secret_and_dies_with_the_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret-1")
    monkeypatch.setenv("ASSAY_ROBOT_TOKEN", "secret-2")
    seen: list[dict[str, str]] = []

    def look() -> bool:
        for child in psutil.Process().children():
            if "assay.faces.robot.inspecting" in " ".join(child.cmdline()):
                seen.append(child.environ())
        return not seen

    ended = inspect_in_child(
        _root(tmp_path), "a", "postgresql+psycopg://u:password@nowhere/h", tmp_path / "scratch", limit_s=60, beat=look,
        beat_s=0.2, stopping=lambda: False, heard=lambda _: None, hidden=["ASSAY_ROBOT_TOKEN"],
    )  # fmt: skip
    assert ended.ending is Ending.LOST
    assert "secret" not in json.dumps(seen)
    assert "PATH" in seen[0]


def test_an_orphaned_child_ends_itself(tmp_path: Path) -> None:
    import subprocess
    import sys

    asked = {"root": str(_root(tmp_path)), "name": "a", "history": str(tmp_path / "h"), "out": str(tmp_path / "out")}
    child = subprocess.Popen(
        [sys.executable, "-m", "assay.faces.robot.inspecting"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(json.dumps(asked).encode() + b"\n")
    child.stdin.close()  # what the kernel does when the robot is killed
    assert child.wait(30) == -signal.SIGKILL
    assert not (tmp_path / "out").exists()


def test_locks_of_a_killed_git_do_not_stop_the_next_robot(tmp_path: Path) -> None:
    make_zoo(tmp_path / "zoo.git")
    config = load_robot(robot_toml(tmp_path))
    first = Service(config)
    base = first.mirror.fetch_base()
    first.close()
    put(tmp_path / "zoo.git", "refs/heads/main", {"more": "1"})
    (tmp_path / "robot/mirror.git/refs/assay/base.lock").touch()
    (tmp_path / "robot/history/zoo-left").mkdir(parents=True)
    second = Service(config)
    assert second.mirror.fetch_base() != base
    assert list((tmp_path / "robot/history").iterdir()) == []
    second.close()

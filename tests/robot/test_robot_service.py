"""The whole robot: a request comes in, a real child inspects, and both forges are told; what fails blames nobody."""

from __future__ import annotations

import json
from pathlib import Path

from fake_github import FakeGithub
from fake_gitlab import TOKEN, FakeGitlab
from live_server import serving, until_true
from repositories import blob_of, commit_tree, git, make_zoo, put, put_entries, tree_of
from served_robot import OPERATOR, robot, robot_toml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from assay_zoo.check import CheckOutcome
from assay_zoo.robot.queue_records import Decided, Level, State
from assay_zoo.robot.service import Service


def decisions(service: Service, identity: int) -> tuple[Decided, ...]:
    submission = service.queue.whole(identity)
    return submission.decisions if submission else ()


def test_a_pull_request_from_its_look_to_its_comment(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    sha = put(
        zoo, "refs/pull/1/head", {"submissions/digits/README.md": "# A <b>bad</b> one @everybody\n", "zoo.toml": "x"}
    )
    fake = FakeGithub("zoo/models", token=TOKEN)
    fake.add_pull(1, sha)
    down = JSONResponse({"message": "Server Error"}, 502)
    fake.faults = [("GET", "/pulls", down)] * 4 + [("POST", "/comments", down)]
    with serving(fake.app()) as forge:
        source = f'[github]\nrepository = "zoo/models"\napi = "{forge}"\npoll_s = 0.2\ntoken = {{ file = "token" }}\n'
        with robot(robot_toml(tmp_path, source)) as (service, client):
            until_true(lambda: len(service.queue.submissions()) == 1)
            until_true(lambda: [status["state"] for status in fake.statuses[-1:]] == ["failure"], seconds=120)
            until_true(lambda: len(fake.comments) == 1)
            until_true(lambda: service.queue.counts().unsent == 0)
            (submission,) = service.queue.submissions()
            assert (submission.answer, submission.state, submission.number, submission.author) == (
                "decline",
                State.DECIDED,
                1,
                "octocat",
            )
            assert {status["state"] for status in fake.statuses} == {"pending", "failure"}
            assert fake.statuses[-1]["target_url"] == f"https://zoo.example/submissions/{submission.id}"
            assert "artifacts" in fake.comments[0]["body"]
            whole = service.queue.whole(submission.id)
            assert whole is not None
            assert whole.decision is not None
            assert Path(whole.decision.record).is_file()
            assert fake.faults == [], "the forge was down twice, and nothing was lost"
            assert client.get("/healthz").json() == {"alive": True}
            assert "<title>Queue · tiny</title>" in client.get("/").text
            assert client.get(f"/submissions/{submission.id}").status_code == 200
            token = {"authorization": f"Bearer {OPERATOR}"}
            assert client.post(f"/submissions/{submission.id}/rerun", headers=token).status_code == 202
            until_true(lambda: len(decisions(service, submission.id)) == 2, seconds=120)
            until_true(lambda: service.queue.counts().unsent == 0)
            assert len(fake.comments) == 1
    assert TOKEN not in (tmp_path / "robot" / "robot.db").read_bytes().decode("latin-1")


def test_a_merge_request_is_told_at_gitlab(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    sha = put(zoo, "refs/merge-requests/3/head", {"submissions/digits/README.md": "# bad\n"})
    fake = FakeGitlab()
    fake.add_request(3, sha, pipeline=5)
    fake.add_request(4, put(zoo, "refs/merge-requests/4/head", {"docs/x.md": "no submission"}))
    alerts: list[str] = []

    async def chat(request: Request) -> Response:
        alerts.append((await request.json())["title"])
        return PlainTextResponse("ok")

    with serving(fake.app()) as forge, serving(Starlette(routes=[Route("/", chat, methods=["POST"])])) as team:
        (tmp_path / "team").write_text(team.replace("http", "json", 1))
        source = (
            f'[gitlab]\nproject = "zoo/models"\napi = "{forge}"\ntoken = {{ file = "token" }}\n'
            '[[alerts.target]]\nname = "team"\nurl = { file = "team" }\n'
        )
        with robot(robot_toml(tmp_path, source)) as (service, _):
            until_true(lambda: fake.notes and service.queue.counts().unsent == 0, seconds=120)
            assert [status["state"] for status in fake.statuses.values()] == ["failed"]
            assert len(alerts) == 1
            assert alerts[0].startswith("[zoo] blocked: digits on ")
            assert [note["number"] for note in fake.notes] == [3], "other merge requests are none of the robot's"
            fake.requests[3]["state"] = "closed"


def test_an_inspection_that_cannot_be_blames_nobody_and_can_be_asked_for_again(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git", {"zoo.toml": "name = 3\n"})
    put(zoo, "refs/heads/submission/a", {"submissions/a/README.md": "# x\n"})
    with robot(robot_toml(tmp_path)) as (service, client):
        until_true(lambda: service.queue.submissions(state="decided"), seconds=120)
        (submission,) = service.queue.submissions()
        whole = service.queue.whole(submission.id)
        assert whole is not None
        assert whole.decision is not None
        assert (submission.answer, submission.attempts) == ("retry", 1), "two attempts, the second one decided"
        assert [check.outcome for check in whole.decision.checks] == [CheckOutcome.INFRASTRUCTURE]
        assert "'name' must be a text" in whole.decision.reasons[0]
        put(zoo, "refs/heads/main", {"zoo.toml": "name = 'fixed'\n"})
        path = f"/submissions/{submission.id}/rerun"
        assert client.post(path).status_code == 401
        assert client.post(path, headers={"authorization": "Bearer wrong"}).status_code == 401
        assert client.post(path, data={"token": OPERATOR[:-1]}).status_code == 401
        assert client.get(path).status_code in (404, 405)
        assert client.post("/submissions/999/rerun", data={"token": OPERATOR}).status_code == 409
        assert client.post(path, headers={"authorization": f"Bearer {OPERATOR}"}).status_code == 202
        until_true(lambda: service.queue.submissions(answer="decline"), seconds=120)
        until_true(lambda: service.queue.counts().unsent == 0)
    document = json.loads(git(zoo, "show", f"assay-status:a/{submission.sha}.json"))
    assert (document["answer"], document["state"]) == ("decline", "decided")


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
        (submission,) = service.queue.submissions()
        whole = service.queue.whole(submission.id)
        assert whole is not None
        assert whole.decision is not None
        assert whole.decision.reasons == ("files.links: submissions/a is a link: a submission is a folder",)
        until_true(lambda: service.queue.counts().unsent == 0)


def test_a_branch_without_its_folder_is_declined_without_a_child(tmp_path: Path, location: str) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    put(zoo, "refs/heads/submission/nothing", {"elsewhere/x": "1"})
    with robot(robot_toml(tmp_path, more=f'database = "{location}"\n')) as (service, _):
        until_true(lambda: service.queue.submissions(answer="decline"))
        (submission,) = service.queue.submissions()
        whole = service.queue.whole(submission.id)
        assert whole is not None
        assert whole.decision is not None
        assert "the commit has no folder submissions/nothing" in whole.decision.reasons[0]
        git(zoo, "update-ref", "-d", "refs/heads/submission/nothing")
        until_true(lambda: service.queue.counts().unsent == 0)


def test_a_push_that_rules_refuse_is_told_once_and_not_repeated(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    hook = zoo / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    pushes = tmp_path / "pushes"
    hook.write_text(f"#!/bin/sh\necho one >> {pushes}\necho 'GH013: Repository rule violations found' >&2\nexit 1\n")
    hook.chmod(0o755)
    put(zoo, "refs/heads/submission/nothing", {"elsewhere/x": "1"})
    with robot(robot_toml(tmp_path)) as (service, _):
        until_true(lambda: service.queue.submissions(answer="decline"))
        until_true(lambda: service.queue.counts().unsent == 0)
        (submission,) = service.queue.submissions()
        whole = service.queue.whole(submission.id)
        assert whole is not None
        lines = [
            line for line in whole.log if "assay-status takes no commit of the robot: let it push there" in line.text
        ]
        assert lines
        assert {line.level for line in lines} == {Level.ERROR}
        assert len(pushes.read_text().splitlines()) == len(lines), "one push for each news, and no more"


def test_a_head_that_cannot_be_fetched_is_told_to_its_author_and_left(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path / "zoo.git")
    climbing = tree_of(zoo, ("40000", "..", tree_of(zoo, ("100644", "x", blob_of(zoo, b"x")))))
    sha = commit_tree(zoo, "refs/heads/submission/broken", tree_of(zoo, ("40000", "submissions", climbing)))
    with robot(robot_toml(tmp_path)) as (service, _):
        until_true(lambda: service.queue.submissions(state="decided"), seconds=120)
        (submission,) = service.queue.submissions()
        assert (submission.name, submission.answer, submission.attempts) == ("broken", "retry", 1)
        (reason,) = decisions(service, submission.id)[0].reasons
        assert reason.startswith(f"files.commit: {sha[:12]} of submission/broken cannot be fetched: git fetch failed")
        assert reason.endswith("make the commit again and push it")
        until_true(lambda: service.queue.counts().unsent == 0)
    assert json.loads(git(zoo, "show", f"assay-status:broken/{sha}.json"))["answer"] == "retry"


def test_a_request_that_is_closed_or_moves_on_is_checked_no_more(tmp_path: Path) -> None:
    """And its commit is told so, so that nobody waits for it."""
    zoo = make_zoo(tmp_path / "zoo.git")
    first = [
        put(zoo, f"refs/pull/{number}/head", {f"submissions/m{number}/README.md": "# x\n"}) for number in (1, 2, 3)
    ]
    fake = FakeGithub("zoo/models", token=TOKEN)
    for number, sha in enumerate(first, start=1):
        fake.add_pull(number, sha)
    with serving(fake.app()) as forge:
        source = f'[github]\nrepository = "zoo/models"\napi = "{forge}"\npoll_s = 0.2\ntoken = {{ file = "token" }}\n'
        with robot(robot_toml(tmp_path, source, "workers = 0\n")) as (service, _):

            def states() -> dict[str, State]:
                return {submission.sha: submission.state for submission in service.queue.submissions()}

            until_true(lambda: list(states().values()) == [State.QUEUED] * 3)
            fake.pulls[1]["state"] = "closed"
            newer = put(zoo, "refs/pull/2/head", {"submissions/m2/README.md": "# y\n"})
            fake.pulls[2]["head"]["sha"] = newer
            wanted = dict(zip((*first, newer), (State.WITHDRAWN, State.SUPERSEDED, *[State.QUEUED] * 2), strict=True))
            until_true(lambda: states() == wanted)
            until_true(lambda: service.queue.counts().unsent == 0)
            last = {
                status["sha"]: (status["state"], status["description"].partition(" ")[2]) for status in fake.statuses
            }
            assert last == {
                first[0]: ("error", "is not checked: it was withdrawn"),
                first[1]: ("error", "is not checked: there is a newer commit"),
                first[2]: ("pending", "waits in the queue"),
                newer: ("pending", "waits in the queue"),
            }
            assert fake.comments == []

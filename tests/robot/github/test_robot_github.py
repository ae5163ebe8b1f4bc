"""GitHub through a server that speaks its contracts: check runs, statuses, comments, limits, tokens."""

from __future__ import annotations

import pytest
from fake_github import APP_ID, BOT, FakeGithub
from github_keys import REPOSITORY, with_token
from starlette.responses import JSONResponse, Response
from submissions import SHA, failed, whole

from assay_zoo.robot.config_schema import AppTable, GithubTable, SecretPlace
from assay_zoo.robot.queue_records import State
from assay_zoo.robot.sources.github import Github
from assay_zoo.robot.sources.source import SourceFailed


def test_open_requests_of_every_page_against_the_zoos_branch(fake: FakeGithub, github: Github) -> None:
    for number in range(2, 251):
        fake.add_pull(number, f"{number:040x}")
    fake.add_pull(300, "c" * 40, base="other")
    heads = github.heads()
    assert len(heads) == 250
    assert (heads[0].sha, heads[0].ref, heads[0].branch) == (SHA, "refs/pull/1/head", "octocat:patch-1")
    assert github.head("", 300) is None
    assert github.head("", 4000) is None
    fake.pulls[1]["state"] = "closed"
    assert github.head("", 1) is None
    assert fake.tokens_given == 1, "one token serves until it ends"


def review(login: str, state: str = "APPROVED", commit: str = SHA) -> dict[str, object]:
    return {"id": 1, "user": {"login": login}, "state": state, "commit_id": commit}


@pytest.mark.parametrize(
    ("reviews", "by"),
    [
        ([review("mira")], "mira"),
        ([review("mira", commit="b" * 40)], ""),
        ([review("reader"), review("stranger"), review("octocat")], ""),
        ([review("mira"), review("mira", "CHANGES_REQUESTED")], ""),
        ([review("mira"), review("mira", "COMMENTED")], "mira"),
        ([], ""),
    ],
)
def test_only_who_may_push_approves_and_only_this_commit(
    fake: FakeGithub, github: Github, reviews: list[dict[str, object]], by: str
) -> None:
    fake.permissions = {"mira": "write", "reader": "read", "octocat": "write"}
    fake.reviews = {1: reviews}
    head = github.head("", 1)
    assert head is not None
    assert github.approved(head) == by


def test_a_check_run_lives_from_queued_to_completed(fake: FakeGithub, github: Github) -> None:
    github.report(whole(), "https://zoo.example/submissions/1")
    (run,) = fake.runs
    assert (run["status"], run["name"], run["details_url"]) == (
        "queued", "assay zoo: digits", "https://zoo.example/submissions/1",
    )  # fmt: skip
    github.report(whole(state=State.RUNNING), "")
    assert fake.runs[0]["status"] == "in_progress"
    assert fake.comments == [], "nobody is written to before there is something to say"
    github.report(whole("promote", reasons=["26 checks passed"]), "")
    (run,) = fake.runs
    assert (run["status"], run["conclusion"]) == ("completed", "success")
    assert run["output"]["title"] == "accepted: 26 checks passed"
    assert len(fake.comments) == 1


def test_more_annotations_than_github_takes_at_once(fake: FakeGithub, github: Github) -> None:
    github.report(whole("decline", checks=failed(127), reasons=["artifacts.readme: it is bad"]), "")
    (run,) = fake.runs
    assert [annotation["start_line"] for annotation in fake.annotations[run["id"]]] == list(range(1, 128))
    assert fake.annotations[run["id"]][0]["path"] == "submissions/digits/README.md"
    assert run["conclusion"] == "failure"


def test_a_report_that_was_cut_off_is_finished_without_doubles(fake: FakeGithub, github: Github) -> None:
    decision_page = whole("decline", checks=failed(127), reasons=["bad"])
    github.report(whole(), "")
    fake.faults = [("PATCH", "/check-runs/", JSONResponse({"message": "Server Error"}, 502))]
    with pytest.raises(SourceFailed, match="502"):
        github.report(decision_page, "")
    fake.faults = [("POST", "/issues/1/comments", JSONResponse({"message": "Server Error"}, 500))]
    with pytest.raises(SourceFailed, match="500"):
        github.report(decision_page, "")
    github.report(decision_page, "")
    github.report(decision_page, "")
    assert len(fake.runs) == 1
    assert len(fake.annotations[fake.runs[0]["id"]]) == 127
    assert len(fake.comments) == 1


def test_a_cut_between_pages_of_annotations(fake: FakeGithub, github: Github) -> None:
    github.report(whole(), "")
    run = fake.runs[0]
    fake.annotations[run["id"]] = [{}] * 50
    run["output"]["annotations_count"] = 50
    github.report(whole("decline", checks=failed(127), reasons=["bad"]), "")
    assert len(fake.annotations[run["id"]]) == 127
    assert fake.annotations[run["id"]][50]["start_line"] == 51


def test_one_comment_that_is_edited_and_never_another_ones(fake: FakeGithub, github: Github) -> None:
    marker = "<!-- assay zoo robot: digits -->"
    fake.comments = [{"id": n, "number": 1, "body": "talk", "user": {"login": "octocat"}} for n in range(120)] + [
        {"id": 500, "number": 1, "body": f"{marker}\nI am the robot", "user": {"login": "mallory"}}
    ]
    github.report(whole("decline", checks=failed(1), reasons=["bad"]), "")
    github.report(whole("promote", promoted="d" * 40), "")
    ours = [comment for comment in fake.comments if comment["user"] == BOT]
    assert len(ours) == 1
    assert "In the zoo by commit " + "d" * 40 in ours[0]["body"]
    assert fake.comments[120]["body"].endswith("I am the robot")
    before = len(fake.log)
    github.report(whole("promote", promoted="d" * 40), "")
    assert not [method for method, path in fake.log[before:] if "comments" in path and method != "GET"]


def test_an_older_commit_leaves_the_comment_alone(fake: FakeGithub, github: Github) -> None:
    fake.add_pull(1, "b" * 40)
    github.report(whole("decline", reasons=["old"]), "")
    github.report(whole(state=State.SUPERSEDED), "")
    assert fake.comments == []
    assert fake.runs[0]["conclusion"] in ("failure", "cancelled")


@pytest.mark.parametrize(
    ("answer", "conclusion", "state"),
    [
        ("promote", "success", "success"),
        ("decline", "failure", "failure"),
        ("needs a person", "action_required", "pending"),
        ("retry", "action_required", "error"),
    ],
)
def test_no_answer_but_promote_looks_like_success(
    answer: str, conclusion: str, state: str, fake: FakeGithub, github: Github, server: tuple[FakeGithub, str]
) -> None:
    github.report(whole(answer, reasons=["why"]), "")
    assert fake.runs[0]["conclusion"] == conclusion
    holder = with_token(server[1], fake.token)
    holder.report(whole(answer, reasons=["why"], identity=2), "")
    holder.end()
    assert fake.statuses[-1]["state"] == state


def test_a_token_writes_statuses(fake: FakeGithub, holder: Github) -> None:
    holder.report(whole(), "https://zoo.example/submissions/1")
    holder.report(whole("decline", reasons=["artifacts.readme: " + "x" * 300]), "")
    assert [status["state"] for status in fake.statuses] == ["pending", "failure"]
    assert fake.statuses[0]["context"] == "assay zoo: digits"
    assert fake.statuses[0]["target_url"] == "https://zoo.example/submissions/1"
    assert len(fake.statuses[1]["description"]) == 140
    assert [comment["user"]["login"] for comment in fake.comments] == ["robot-account"]


def test_a_token_that_ended_early_is_replaced(fake: FakeGithub, github: Github) -> None:
    github.heads()
    fake.token = "ghs_revoked_by_somebody"
    assert len(github.heads()) == 1
    assert fake.tokens_given == 2


def test_a_wrong_key_is_told_without_the_key(fake: FakeGithub, server: tuple[FakeGithub, str]) -> None:
    table = GithubTable(repository=REPOSITORY, api=server[1], app=AppTable(id=APP_ID, key=SecretPlace(env="X")))
    app, holder = Github(table, "hunter2-is-no-key"), with_token(server[1], "wrong")
    with pytest.raises(SourceFailed, match="private key of the GitHub App cannot be used") as error:
        app.heads()
    assert "hunter2" not in str(error.value)
    with pytest.raises(SourceFailed, match="401: Bad credentials"):
        holder.heads()
    app.end()
    holder.end()


def test_a_request_is_closed_when_its_submission_is_in(fake: FakeGithub, github: Github) -> None:
    github.close(whole("promote", sha="b" * 40).submission)
    assert fake.pulls[1]["state"] == "open", "another commit is there by now"
    github.close(whole("promote").submission)
    assert fake.pulls[1]["state"] == "closed"


def test_git_sees_the_token_as_a_variable_for_one_host(github: Github, fake: FakeGithub) -> None:
    given = github.credentials("https://github.example/zoo/models.git")
    assert given["GIT_CONFIG_KEY_0"] == "http.https://github.example/.extraHeader"
    assert fake.token not in "".join(given.values()), "it is encoded, as git sends it"
    assert github.credentials("/srv/zoo.git") == {}


def test_heads_owners_and_authors_that_are_gone(fake: FakeGithub, github: Github) -> None:
    fake.pulls[1]["head"] |= {"label": None, "repo": None, "user": None}
    fake.pulls[1] |= {"user": None, "title": None}
    fake.add_pull(2, "b" * 40)
    fake.pulls[2]["head"] = None
    (head,) = github.heads()
    assert (head.sha, head.branch, head.author, head.title) == (SHA, "patch-1", "", "")
    assert github.head("", 2) is None
    fake.comments = [{"id": 1, "number": 1, "body": None, "user": None}]
    fake.reviews = {1: [{"id": 1, "user": None, "state": "APPROVED", "commit_id": None}]}
    assert github.approved(head) == ""
    github.report(whole("decline", reasons=["bad"]), "")
    assert len(fake.comments) == 2


@pytest.mark.parametrize(
    "answer", [b"<html>busy</html>", b"null", b'[{"number": null, "head": {"sha": "a"}}]', b"[1]", b""]
)
def test_an_answer_of_another_form_is_a_failure_of_the_forge(fake: FakeGithub, github: Github, answer: bytes) -> None:
    fake.faults = [("GET", "/pulls", Response(answer, media_type="application/json"))]
    with pytest.raises(SourceFailed, match="in a form that it does not document"):
        github.heads()
    assert len(github.heads()) == 1

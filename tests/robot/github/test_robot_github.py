"""GitHub through a server that speaks its contracts: statuses, comments, limits."""

from __future__ import annotations

import pytest
from fake_github import REPOSITORY, ROBOT, FakeGithub
from starlette.responses import JSONResponse, Response
from submissions import SHA, failed, whole

from assay_zoo.robot.config_schema import GithubTable, SecretPlace
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


def test_one_comment_that_is_edited_and_never_another_ones(fake: FakeGithub, github: Github) -> None:
    marker = "<!-- assay zoo robot: digits -->"
    fake.comments = [{"id": n, "number": 1, "body": "talk", "user": {"login": "octocat"}} for n in range(120)] + [
        {"id": 500, "number": 1, "body": f"{marker}\nI am the robot", "user": {"login": "mallory"}}
    ]
    github.report(whole("decline", checks=failed(1), reasons=["bad"]), "")
    github.report(whole("promote", promoted="d" * 40), "")
    ours = [comment for comment in fake.comments if comment["user"] == ROBOT]
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
    assert [status["state"] for status in fake.statuses] == ["failure", "error"]


@pytest.mark.parametrize(
    ("answer", "state"),
    [("promote", "success"), ("decline", "failure"), ("needs a person", "pending"), ("retry", "error")],
)
def test_no_answer_but_promote_looks_like_success(answer: str, state: str, fake: FakeGithub, github: Github) -> None:
    github.report(whole(answer, reasons=["why"]), "")
    assert fake.statuses[-1]["state"] == state


def test_accepted_and_not_promoted_is_no_success(fake: FakeGithub, github: Github) -> None:
    github.report(whole("promote", trouble="the branch takes no push"), "")
    assert fake.statuses[-1]["state"] == "error"


def test_a_submission_is_told_from_its_queue_to_its_decision(fake: FakeGithub, github: Github) -> None:
    github.report(whole(), "https://zoo.example/submissions/1")
    assert fake.comments == [], "nobody is written to before there is something to say"
    github.report(whole("decline", reasons=["artifacts.readme: " + "x" * 300]), "")
    assert [status["state"] for status in fake.statuses] == ["pending", "failure"]
    assert fake.statuses[0]["context"] == "assay zoo: digits"
    assert fake.statuses[0]["target_url"] == "https://zoo.example/submissions/1"
    assert len(fake.statuses[1]["description"]) == 140
    assert [comment["user"] for comment in fake.comments] == [ROBOT]


def test_a_report_that_was_cut_off_is_finished_without_doubles(fake: FakeGithub, github: Github) -> None:
    fake.faults = [("POST", "/issues/1/comments", JSONResponse({"message": "Server Error"}, 500))]
    with pytest.raises(SourceFailed, match="500"):
        github.report(whole("decline", reasons=["bad"]), "")
    github.report(whole("decline", reasons=["bad"]), "")
    github.report(whole("decline", reasons=["bad"]), "")
    assert len(fake.comments) == 1


def test_a_wrong_token_is_told_without_it(fake: FakeGithub, server: tuple[FakeGithub, str]) -> None:
    holder = Github(GithubTable(repository=REPOSITORY, api=server[1], token=SecretPlace(env="X")), "hunter2")
    with pytest.raises(SourceFailed, match="401: Bad credentials") as error:
        holder.heads()
    assert "hunter2" not in str(error.value)
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

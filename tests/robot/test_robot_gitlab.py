"""GitLab through a server that speaks its contracts: statuses and their state machine, notes, requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_gitlab import PROJECT, TOKEN, FakeGitlab
from live_server import serving
from submissions import SHA, failed, whole

from assay_zoo.robot.config_schema import GitlabTable, SecretPlace
from assay_zoo.robot.queue_records import State
from assay_zoo.robot.sources.gitlab import Gitlab
from assay_zoo.robot.sources.source import SourceFailed


@pytest.fixture
def fake() -> FakeGitlab:
    made = FakeGitlab()
    made.add_request(1, SHA, pipeline=77)
    return made


@pytest.fixture
def address(fake: FakeGitlab) -> Iterator[str]:
    with serving(fake.app()) as address:
        yield address
    assert fake.refused == []


@pytest.fixture
def gitlab(address: str) -> Iterator[Gitlab]:
    opened = Gitlab(GitlabTable(project=PROJECT, api=address, token=SecretPlace(env="X")), TOKEN)
    yield opened
    opened.end()


def test_open_requests_of_every_page_against_the_zoos_branch(fake: FakeGitlab, gitlab: Gitlab) -> None:
    for number in range(2, 131):
        fake.add_request(number, f"{number:040x}")
    fake.add_request(200, "c" * 40, target="other")
    heads = gitlab.heads()
    assert len(heads) == 130
    assert (heads[0].ref, heads[0].sha) == ("refs/merge-requests/1/head", SHA)
    assert gitlab.head("", 200) is None
    assert gitlab.head("", 999) is None
    head = gitlab.head("", 1)
    assert head is not None
    assert head.sha == SHA


def test_a_status_and_one_note_that_is_edited(fake: FakeGitlab, gitlab: Gitlab) -> None:
    for submission in (whole(), whole(), whole(state=State.RUNNING), whole(state=State.RUNNING), whole()):
        gitlab.report(submission, "https://zoo.example/submissions/1")
    (status,) = fake.statuses.values()
    assert (status["state"], status["pipeline_id"], status["name"]) == ("running", 77, "assay zoo: digits")
    assert fake.notes == []
    fake.notes = [{"id": 5, "number": 1, "body": "<!-- assay zoo robot: digits --> hi", "author": {"id": 7}}]
    gitlab.report(whole("decline", checks=failed(2), reasons=["bad"]), "")
    gitlab.report(whole("promote", promoted="e" * 40), "")
    assert len(fake.notes) == 2
    assert "In the zoo by commit" in fake.notes[1]["body"]
    assert fake.notes[0]["body"].endswith("hi"), "somebody else's"
    assert next(iter(fake.statuses.values()))["state"] == "success"
    gitlab.close(whole("promote").submission)
    assert fake.requests[1]["state"] == "closed"


def test_only_promote_is_success(fake: FakeGitlab, gitlab: Gitlab) -> None:
    for answer, state in (("decline", "failed"), ("needs a person", "failed"), ("retry", "canceled")):
        fake.statuses.clear()
        gitlab.report(whole(answer, reasons=["x" * 400]), "")
        assert next(iter(fake.statuses.values()))["state"] == state


def test_an_older_commit_leaves_the_note_and_the_pipeline_alone(fake: FakeGitlab, gitlab: Gitlab) -> None:
    fake.add_request(1, "b" * 40, pipeline=78)
    gitlab.report(whole("decline", reasons=["old"]), "")
    assert fake.notes == []
    assert "pipeline_id" not in next(iter(fake.statuses.values()))
    gitlab.close(whole("promote").submission)
    assert fake.requests[1]["state"] == "opened"


def test_a_wrong_token_is_told_without_it(address: str) -> None:
    opened = Gitlab(GitlabTable(project=PROJECT, api=address, token=SecretPlace(env="X")), "glpat-wrong")
    with pytest.raises(SourceFailed, match="401 Unauthorized") as error:
        opened.heads()
    assert "glpat" not in str(error.value)
    opened.end()


def test_git_sees_the_token_as_a_variable(gitlab: Gitlab) -> None:
    given = gitlab.credentials("https://gitlab.example/zoo/models.git")
    assert given["GIT_CONFIG_VALUE_0"].startswith("Authorization: Basic ")

"""A GitHub that speaks its contracts, and the two ways to sign in there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_github import APP_ID, FakeGithub
from github_keys import PEM, PUBLIC, REPOSITORY, with_token
from live_server import serving
from submissions import SHA

from assay_zoo.robot.config_schema import AppTable, GithubTable, SecretPlace
from assay_zoo.robot.sources.github import Github


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[FakeGithub, str]]:
    fake = FakeGithub(REPOSITORY, PUBLIC)
    with serving(fake.app()) as address:
        yield fake, address


@pytest.fixture
def fake(server: tuple[FakeGithub, str]) -> FakeGithub:
    """The same server, as new."""
    fake = server[0]
    fresh = FakeGithub(REPOSITORY, PUBLIC)
    fake.__dict__.update(fresh.__dict__)
    fake.add_pull(1, SHA)
    return fake


@pytest.fixture
def github(fake: FakeGithub, server: tuple[FakeGithub, str]) -> Iterator[Github]:
    table = GithubTable(repository=REPOSITORY, api=server[1], app=AppTable(id=APP_ID, key=SecretPlace(env="X")))
    opened = Github(table, PEM)
    yield opened
    opened.end()


@pytest.fixture
def holder(fake: FakeGithub, server: tuple[FakeGithub, str]) -> Iterator[Github]:
    fake.public_key, fake.token = b"", "github_pat_1"
    opened = with_token(server[1], "github_pat_1")
    yield opened
    opened.end()

"""A GitHub that speaks its contracts, and who signs in there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_github import REPOSITORY, FakeGithub
from live_server import serving
from submissions import SHA

from assay_zoo.robot.config_schema import GithubTable, SecretPlace
from assay_zoo.robot.sources.github import Github


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[FakeGithub, str]]:
    fake = FakeGithub(REPOSITORY)
    with serving(fake.app()) as address:
        yield fake, address


@pytest.fixture
def fake(server: tuple[FakeGithub, str]) -> FakeGithub:
    """The same server, as new."""
    fake = server[0]
    fake.__dict__.update(FakeGithub(REPOSITORY).__dict__)
    fake.add_pull(1, SHA)
    return fake


@pytest.fixture
def github(fake: FakeGithub, server: tuple[FakeGithub, str]) -> Iterator[Github]:
    opened = Github(GithubTable(repository=REPOSITORY, api=server[1], token=SecretPlace(env="X")), fake.token)
    yield opened
    opened.end()

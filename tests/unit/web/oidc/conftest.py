"""A dashboard that may be written to, and the provider at which its users sign in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from signed_in import dashboard
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.web.site import Site
from openid_provider import Provider, running


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running(Provider()) as made:
        yield made


@pytest.fixture
def folder(history: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(history, tmp_path / "writable"))


@pytest.fixture
def client(provider: Provider, folder: Path) -> Iterator[TestClient]:
    with open_to_read(str(folder)) as store, dashboard(provider, folder, Site(store, folder)) as made:
        yield made

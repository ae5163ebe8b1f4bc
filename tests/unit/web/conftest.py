"""The pages over a small history, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.web.app import make_app
from assay.web.site import Site
from dashboard_history import dashboard_history


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> str:
    return dashboard_history(tmp_path_factory.mktemp("dashboard"))


@pytest.fixture(scope="session")
def client(history: str) -> Iterator[TestClient]:
    with open_to_read(history) as store:
        app = make_app(Site(store, Path(history)), {"testserver"})
        with TestClient(app, raise_server_exceptions=False) as client:
            yield client

"""A pass says how many jobs were skipped: they prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.web.address import address
from assay.web.app import make_app
from assay.web.site import Site
from dashboard_history import WELL, skipped_history


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (address("/badge.svg"), "<title>assay: passing, 9 skipped</title>"),
        (address("/badge.svg", case=WELL), "<title>assay: passing, 3 skipped</title>"),
        (address("/badge.svg", flow="onnxruntime"), "<title>assay: passing</title>"),
        (address("/badge.svg", flow="tvm"), "<title>assay: 3 jobs skip</title>"),
        ("/", "Every newest result is well, and 9 jobs were skipped."),
        ("/", "3 passed, 0 failed, 9 skipped"),
    ],
)
def test_a_pass_says_how_many_jobs_were_skipped(tmp_path: Path, path: str, words: str) -> None:
    history = skipped_history(tmp_path)
    with open_to_read(history) as store, TestClient(make_app(Site(store, Path(history)), {"testserver"})) as client:
        assert words in client.get(path).text

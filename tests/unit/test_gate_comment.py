"""What keeps the action from commenting is one sentence of what is to be done, and never the end of its job."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from http_server import Handler, serving

SCRIPT = Path(__file__).parents[2] / "deploy" / "gate" / "comment.py"
ADVICE = "give the job the permission pull-requests: write, or say comment: false"
BROKEN = "the API did not answer as it should"


def _said(folder: Path, status: int, body: bytes, headers: dict[str, str], summary: bytes = b"## Assay: PASS\n") -> str:
    class Api(Handler):
        def do_GET(self) -> None:
            self.answer(status, body, **headers)

    (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    (folder / "summary.md").write_bytes(summary)
    with serving(Api) as url:
        about = {"GITHUB_EVENT_PATH": "event.json", "GITHUB_API_URL": url, "GITHUB_REPOSITORY": "team/models"}
        done = subprocess.run(
            [sys.executable, SCRIPT, "summary.md"], cwd=folder, env=about, capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("status", "headers", "why"),
    [
        (401, {}, f"the token may not comment here (HTTP 401); {ADVICE}"),
        (403, {}, f"the token may not comment here (HTTP 403); {ADVICE}"),
        (403, {"X_RateLimit_Remaining": "12"}, f"the token may not comment here (HTTP 403); {ADVICE}"),
        (403, {"X_RateLimit_Remaining": "0"}, "the API answered HTTP 403; the verdict stands"),
        (403, {"Retry_After": "60"}, "the API answered HTTP 403; the verdict stands"),
        (429, {}, "the API answered HTTP 429; the verdict stands"),
        (502, {}, "the API answered HTTP 502; the verdict stands"),
    ],
)
def test_a_right_is_asked_for_only_where_it_is_missing(
    tmp_path: Path, status: int, headers: dict[str, str], why: str
) -> None:
    assert _said(tmp_path, status, b'{"message": "no"}', headers) == f"::notice title=Assay::No comment: {why}.\n"


@pytest.mark.parametrize(
    "body", [b"<html>Sign in</html>", b'{"message": "hello"}', b'["a"]', b"null", b"", b'[{"body": 1}, 2]']
)
def test_what_answers_in_place_of_the_api_ends_no_job(tmp_path: Path, body: bytes) -> None:
    assert _said(tmp_path, 200, body, {}).startswith(f"::notice title=Assay::No comment: {BROKEN} (")


def test_an_answer_that_breaks_off_ends_no_job(tmp_path: Path) -> None:
    said = _said(tmp_path, 200, b"[", {"Transfer_Encoding": "chunked"})
    assert said.startswith(f"::notice title=Assay::No comment: {BROKEN} (")


def test_a_summary_with_bytes_that_are_no_text_ends_no_job(tmp_path: Path) -> None:
    assert "(HTTP 403)" in _said(tmp_path, 403, b"{}", {}, b"## Assay: PASS of \xff\n")

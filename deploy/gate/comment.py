"""One comment on the pull request, kept up to date: the comment with our mark is changed, and written where there is none.

Only the standard library: a container of the gate has no `gh`. What keeps it from commenting is said in one sentence and fails nothing,
since the verdict stands without it."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LONGEST = 60_000
"""Characters. GitHub takes 65,536 in one comment."""
MOST_PAGES = 30
PAGE = 100


def mark() -> str:
    """Invisible in the comment. Each job of a workflow keeps a comment of its own."""
    return f"<!-- assay gate: {os.environ.get('GITHUB_WORKFLOW', '')} / {os.environ.get('GITHUB_JOB', '')} -->".replace(
        "--!", ""
    )


def pull_request() -> int:
    """Its number; 0 where this is none."""
    try:
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        return int(event["pull_request"]["number"])
    except (KeyError, OSError, TypeError, ValueError):
        return 0


def call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """Raises urllib.error.HTTPError, and whatever else urllib, the connection and json do."""
    url = f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}"
    request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body else None)
    request.add_header("Accept", "application/vnd.github+json")
    request.add_header("Authorization", f"Bearer {os.environ.get('GH_TOKEN', '')}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def ours(number: int) -> int:
    """The comment with our mark, the first of them; 0 where there is none."""
    for page in range(1, MOST_PAGES + 1):
        found = call("GET", f"issues/{number}/comments?per_page={PAGE}&page={page}")
        for one in found:
            if str(one.get("body", "")).startswith(mark()):
                return int(one["id"])
        if len(found) < PAGE:
            break
    return 0


def write(number: int, body: str) -> str:
    """What was done. A comment of somebody else that begins with our mark cannot be changed: then a new one is written."""
    known = ours(number)
    if known:
        try:
            call("PATCH", f"issues/comments/{known}", {"body": body})
            return "changed"
        except urllib.error.HTTPError as error:
            if error.code not in (403, 404):
                raise
    call("POST", f"issues/{number}/comments", {"body": body})
    return "written"


def refusal(error: urllib.error.HTTPError) -> str:
    """GitHub says 403 of a token without the right, and of one that has asked too often as well."""
    is_too_often = "Retry-After" in error.headers or error.headers.get("X-RateLimit-Remaining") == "0"
    if error.code in (401, 403, 404) and not is_too_often:
        advice = "give the job the permission pull-requests: write, or say comment: false"
        return f"the token may not comment here (HTTP {error.code}); {advice}"
    return f"the API answered HTTP {error.code}; the verdict stands"


def main(summary: str) -> None:
    number = pull_request()
    if not number:
        print("No comment: this run is of no pull request.")
        return
    try:
        text = Path(summary).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        print(f"::notice title=Assay::No comment: {summary} cannot be read ({error.strerror}).")
        return
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n\nThe rest is in the summary of the job.\n"
    try:
        done = write(number, f"{mark()}\n{text}")
        print(f"Comment on pull request {number}: {done}.")
    except urllib.error.HTTPError as error:
        print(f"::notice title=Assay::No comment: {refusal(error)}.")
    except Exception as error:  # noqa: BLE001 - whatever stands between here and the API may answer in its place
        print(
            f"::notice title=Assay::No comment: the API did not answer as it should ({type(error).__name__}); the verdict stands."
        )


if __name__ == "__main__":
    main(sys.argv[1])

"""The fake forge refuses what GitHub's description does not allow."""

from __future__ import annotations

import pytest
from github_openapi import refusal

AT = "/repos/zoo/models"


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "message"),
    [
        ("POST", f"{AT}/statuses/0a", {}, {"state": "success"}, ""),
        ("POST", f"{AT}/statuses/0a", {}, {"context": "a"}, "state"),
        ("POST", f"{AT}/statuses/0a", {}, None, "needs a body"),
        ("POST", f"{AT}/statuses/0a", {}, {"state": "done"}, "state"),
        ("POST", f"{AT}/statuses/0a", {}, {"state": "error", "colour": "red"}, "colour"),
        ("GET", f"{AT}/pulls", {"state": "open", "per_page": "100"}, None, ""),
        ("GET", f"{AT}/pulls", {"state": "opened"}, None, "state"),
        ("GET", f"{AT}/pulls", {"target": "main"}, None, "no parameter target"),
        ("GET", f"{AT}/pulls", {}, {}, "takes no body"),
        ("DELETE", f"{AT}/pulls/1", {}, None, "not described"),
    ],
)
def test_what_the_description_does_not_allow_is_refused(
    method: str, path: str, query: dict[str, str], body: object, message: str
) -> None:
    text = refusal(method, path, query, body)
    assert message in text if message else text == ""

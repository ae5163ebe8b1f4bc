"""Findings where they are: discussions on the lines of a merge request's diff, resolved when the finding is gone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from assay_zoo.check import Check
from assay_zoo.robot.records import Whole
from assay_zoo.robot.sanitize import markdown
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.robot.sources.github_checks import place_of, pointing

MOST = 20
"""More would bury the request; the note has all of them."""
_MARKER = "<!-- assay zoo finding: {name} {key} -->"
_REFUSED = (400, 404, 422)
"""Of a line that the diff does not show: that finding stands in the note alone."""


class Discussions:
    """`path` is that of the project. A repeated report opens none twice: each is known by what it says and where."""

    def __init__(self, http: ForgeHttp, path: str, me: Callable[[], int]) -> None:
        self._http, self._path, self._me = http, path, me

    def report(self, whole: Whole, request: Any) -> None:
        """What the decision on the request's newest commit found; nothing where there is none yet."""
        versions = request.get("diff_refs") or {}
        if whole.decision is None or not versions:
            return
        name = whole.submission.name
        wanted = {_key(one): one for one in pointing(whole) if one.line}
        path = f"{self._path}/merge_requests/{whole.submission.number}/discussions"
        there = self._ours(path, name)
        for key, (identity, resolved) in there.items():
            if key not in wanted and not resolved:
                self._http.send("PUT", f"{path}/{identity}", {"resolved": True})
        for key, one in list(wanted.items())[:MOST]:
            if key not in there:
                body = f"{_MARKER.format(name=name, key=key)}\n**{markdown(one.name)}**: {markdown(one.sentence, 2000)}"
                position = _position(place_of(name, one), one.line, versions)
                self._http.send("POST", path, {"body": body, "position": position}, allowed=_REFUSED)

    def _ours(self, path: str, name: str) -> dict[str, tuple[str, bool]]:
        """By key: the discussion, and whether it is resolved. Anybody could write the marker: only our own count."""
        begin, end = _MARKER.format(name=name, key="\0").split("\0")
        found = {}
        for page in self._http.pages(path):
            for discussion in page:
                note = discussion["notes"][0]
                body = str(note["body"])
                if body.startswith(begin) and (note.get("author") or {}).get("id") == self._me():
                    key = body.removeprefix(begin).partition(end)[0]
                    found[key] = (str(discussion["id"]), bool(note.get("resolved")))
        return found


def _key(one: Check) -> str:
    return hashlib.sha256(f"{one.path}\n{one.line}\n{one.name}\n{one.sentence}".encode()).hexdigest()[:16]


def _position(path: str, line: int, versions: Any) -> dict[str, Any]:
    shas = {name: str(versions[name]) for name in ("base_sha", "start_sha", "head_sha")}
    return {"position_type": "text", **shas, "old_path": path, "new_path": path, "new_line": line}

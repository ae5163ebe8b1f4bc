"""Merge requests of one GitLab project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from assay_zoo.decision import Answer
from assay_zoo.robot import report
from assay_zoo.robot.config_schema import GitlabTable
from assay_zoo.robot.git import basic_authorization
from assay_zoo.robot.records import Head, State, Submission, Whole
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.robot.sources.github_checks import check_name
from assay_zoo.robot.sources.source import SourceFailed, understood

_DESCRIPTION_MOST = 255
# GitLab has no state for what waits for a person: "failed" keeps the request from being merged past the robot.
_STATES = {Answer.PROMOTE: "success", Answer.DECLINE: "failed", Answer.PERSON: "failed", Answer.RETRY: "canceled"}


class Gitlab:
    def __init__(self, table: GitlabTable, secret: str, *, branch: str = "main") -> None:
        self.repository, self.poll_s = table.project, table.poll_s
        self._branch, self._token = branch, secret
        self._at = f"/projects/{quote(table.project, safe='')}"
        self._http = ForgeHttp(f"{table.api.rstrip('/')}/api/v4", lambda _: {"private-token": secret})
        self._me = 0

    @understood
    def heads(self) -> list[Head]:
        pages = self._http.pages(f"{self._at}/merge_requests", state="opened", target_branch=self._branch)
        return [_head(request) for page in pages for request in page if request["sha"] and not request.get("draft")]

    @understood
    def head(self, branch: str, number: int) -> Head | None:  # noqa: ARG002 - a request is known by its number
        one = self._request(number)
        wanted = (
            one
            and one["state"] == "opened"
            and one["target_branch"] == self._branch
            and one["sha"]
            and not one.get("draft")
        )
        return _head(one) if wanted else None

    def names(self, head: Head, found: list[str]) -> list[str]:  # noqa: ARG002
        """Those that it changes: other merge requests of the project are none of ours."""
        return found

    @understood
    def approved(self, head: Head) -> str:  # noqa: ARG002
        """An approval of GitLab names no commit: a maintainer says it to the robot, or in zoo.toml."""
        return ""

    @understood
    def report(self, whole: Whole, page: str) -> None:
        one = whole.submission
        request = self._request(one.number)
        self._status(whole, page, request)
        if one.state in (State.SUPERSEDED, State.WITHDRAWN) or request is None or request["sha"] != one.sha:
            return
        mine = self._note(one)
        if mine is None and whole.decision is None:
            return  # the status says that it waits; a comment comes with the decision
        body = {"body": report.comment(whole, page)}
        notes = f"{self._at}/merge_requests/{one.number}/notes"
        if mine is None:
            self._http.send("POST", notes, body)
        elif mine["body"] != body["body"]:
            self._http.send("PUT", f"{notes}/{int(mine['id'])}", body)

    @understood
    def close(self, submission: Submission) -> None:
        one = self._request(submission.number)
        if one and one["state"] == "opened" and one["sha"] == submission.sha:
            self._http.send("PUT", f"{self._at}/merge_requests/{submission.number}", {"state_event": "close"})

    def end(self) -> None:
        self._http.end()

    def credentials(self, address: str) -> Mapping[str, str]:
        """Variables for git."""
        return basic_authorization(address, "oauth2", self._token)

    def _status(self, whole: Whole, page: str, request: Any) -> None:
        one, decided = whole.submission, whole.decision
        if decided:
            state = "failed" if one.trouble else _STATES[Answer(decided.answer)]
        else:
            state = {State.QUEUED: "pending", State.RUNNING: "running"}.get(one.state, "canceled")
        body: dict[str, Any] = {
            "state": state,
            "name": check_name(one.name),
            "description": report.line(whole, _DESCRIPTION_MOST),
        }
        body |= {"target_url": page} if page else {}
        pipeline = (request or {}).get("head_pipeline") or {}
        if pipeline.get("sha") == one.sha:
            body["pipeline_id"] = pipeline["id"]  # else GitLab makes a second pipeline beside the request's own
        answer = self._http.send("POST", f"{self._at}/statuses/{one.sha}", body, allowed=(400,))
        # GitLab refuses the state that it is in already, and to go back from running to pending.
        if answer.status_code == 400 and "Cannot transition status" not in answer.text:
            raise SourceFailed(f"GitLab refused the status of {one.sha[:12]}: {sanitize(answer.text, 200)}")

    def _request(self, number: int) -> Any:
        return self._http.find(f"{self._at}/merge_requests/{number}")

    def _who(self) -> int:
        self._me = self._me or int(self._http.get("/user")["id"])
        return self._me

    def _note(self, submission: Submission) -> Any:
        """Ours, with the marker: anybody could write the marker into a comment of his own."""
        marker = report.MARKER.format(name=submission.name)
        for page in self._http.pages(f"{self._at}/merge_requests/{submission.number}/notes"):
            for note in page:
                if str(note["body"]).startswith(marker) and (note.get("author") or {}).get("id") == self._who():
                    return note
        return None


def _head(one: Any) -> Head:
    number = int(one["iid"])
    return Head(
        sha=str(one["sha"]),
        branch=sanitize(str(one["source_branch"]), 200),
        ref=f"refs/merge-requests/{number}/head",
        number=number,
        author=sanitize(str((one.get("author") or {}).get("username", "")), 100),
        title=sanitize(str(one.get("title", "")), 200),
        url=str(one["web_url"]),
    )

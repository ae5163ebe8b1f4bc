"""Merge requests of one GitLab project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from assay_zoo.decision import Answer
from assay_zoo.robot import report
from assay_zoo.robot.config_schema import GitlabTable
from assay_zoo.robot.git import basic_authorization
from assay_zoo.robot.queue_records import Head, State, Submission, Whole
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.robot.sources.source import SourceFailed, understood

_DESCRIPTION_MOST = 255
# GitLab has no state for what waits for a person: "failed" keeps the request from being merged past the robot.
_STATES = {Answer.PROMOTE: "success", Answer.DECLINE: "failed", Answer.PERSON: "failed", Answer.RETRY: "canceled"}


class Gitlab:
    def __init__(self, table: GitlabTable, secret: str, *, branch: str = "main") -> None:
        self.repository, self.poll_s = table.project, table.poll_s
        self._branch, self._token = branch, secret
        self._at = f"/projects/{quote(table.project, safe='')}"
        self._http = ForgeHttp(f"{table.api.rstrip('/')}/api/v4", {"private-token": secret})
        self._me = 0

    @understood
    def heads(self) -> list[Head]:
        pages = self._http.pages(f"{self._at}/merge_requests", state="opened", target_branch=self._branch)
        return [_head(request) for page in pages for request in page if request["sha"] and not request.get("draft")]

    @understood
    def head(self, branch: str, number: int) -> Head | None:  # noqa: ARG002 - a request is known by its number
        request = self._request(number)
        wanted = (
            request
            and request["state"] == "opened"
            and request["target_branch"] == self._branch
            and request["sha"]
            and not request.get("draft")
        )
        return _head(request) if wanted else None

    def names(self, head: Head, candidates: list[str]) -> list[str]:  # noqa: ARG002
        """Those that it changes: other merge requests of the project are none of ours."""
        return candidates

    @understood
    def approved(self, head: Head) -> str:  # noqa: ARG002
        """An approval of GitLab names no commit: a maintainer says it to the robot, or in zoo.toml."""
        return ""

    @understood
    def report(self, whole: Whole, page: str) -> None:
        submission = whole.submission
        request = self._request(submission.number)
        self._status(whole, page, request)
        if (
            submission.state in (State.SUPERSEDED, State.WITHDRAWN)
            or request is None
            or request["sha"] != submission.sha
        ):
            return
        mine = self._note(submission)
        if mine is None and whole.decision is None:
            return  # the status says that it waits; a comment comes with the decision
        body = {"body": report.comment(whole, page)}
        notes = f"{self._at}/merge_requests/{submission.number}/notes"
        if mine is None:
            self._http.send("POST", notes, body)
        elif mine["body"] != body["body"]:
            self._http.send("PUT", f"{notes}/{int(mine['id'])}", body)

    @understood
    def close(self, submission: Submission) -> None:
        request = self._request(submission.number)
        if request and request["state"] == "opened" and request["sha"] == submission.sha:
            self._http.send("PUT", f"{self._at}/merge_requests/{submission.number}", {"state_event": "close"})

    def end(self) -> None:
        self._http.end()

    def credentials(self, address: str) -> Mapping[str, str]:
        """Variables for git."""
        return basic_authorization(address, "oauth2", self._token)

    def _status(self, whole: Whole, page: str, request: Any) -> None:
        submission, decided = whole.submission, whole.decision
        if decided:
            state = "failed" if submission.trouble else _STATES[Answer(decided.answer)]
        else:
            state = {State.QUEUED: "pending", State.RUNNING: "running"}.get(submission.state, "canceled")
        body: dict[str, Any] = {
            "state": state,
            "name": report.status_name(submission.name),
            "description": report.line(whole, _DESCRIPTION_MOST),
        }
        body |= {"target_url": page} if page else {}
        pipeline = (request or {}).get("head_pipeline") or {}
        if pipeline.get("sha") == submission.sha:
            body["pipeline_id"] = pipeline["id"]  # else GitLab makes a second pipeline beside the request's own
        answer = self._http.send("POST", f"{self._at}/statuses/{submission.sha}", body, allowed=(400,))
        # GitLab refuses the state that it is in already, and to go back from running to pending.
        if answer.status_code == 400 and "Cannot transition status" not in answer.text:
            raise SourceFailed(f"GitLab refused the status of {submission.sha[:12]}: {sanitize(answer.text, 200)}")

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


def _head(request: Any) -> Head:
    number = int(request["iid"])
    return Head(
        sha=str(request["sha"]),
        branch=sanitize(str(request["source_branch"]), 200),
        ref=f"refs/merge-requests/{number}/head",
        number=number,
        author=sanitize(str((request.get("author") or {}).get("username", "")), 100),
        title=sanitize(str(request.get("title", "")), 200),
        url=str(request["web_url"]),
    )

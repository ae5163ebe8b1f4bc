"""Pull requests of one GitHub repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from assay_zoo.decision import Answer
from assay_zoo.robot import report
from assay_zoo.robot.config_schema import GithubTable
from assay_zoo.robot.git import basic_authorization
from assay_zoo.robot.queue_records import Head, State, Submission, Whole
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.robot.sources.source import understood

_VERSION = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
_STATES = {Answer.PROMOTE: "success", Answer.DECLINE: "failure", Answer.PERSON: "pending", Answer.RETRY: "error"}
"""None but a promotion is a success: a branch that asks for the status would take another as passed."""


class Github:
    """`secret` is a token, which the code of a fork never sees. It writes a commit status, which any token may, and one comment."""

    def __init__(self, table: GithubTable, secret: str, *, branch: str = "main") -> None:
        self.repository, self.poll_s = table.repository, table.poll_s
        self._branch, self._token, self._login = branch, secret, ""
        self._http = ForgeHttp(table.api, {**_VERSION, "authorization": f"Bearer {secret}"})

    @understood
    def heads(self) -> list[Head]:
        pages = self._http.pages(f"/repos/{self.repository}/pulls", state="open", base=self._branch)
        return [_head(pull) for page in pages for pull in page if _sha(pull) and not pull.get("draft")]

    @understood
    def head(self, branch: str, number: int) -> Head | None:  # noqa: ARG002 - a request is known by its number
        pull = self._pull(number)
        ready = pull and pull["state"] == "open" and _sha(pull) and not pull.get("draft")
        ready = ready and pull["base"]["ref"] == self._branch
        return _head(pull) if ready else None

    def names(self, head: Head, candidates: list[str]) -> list[str]:  # noqa: ARG002
        """Those that it changes: other pull requests of the repository are none of ours."""
        return candidates

    @understood
    def approved(self, head: Head) -> str:
        """By the last word of each reviewer who may push: an approving review of the newest commit."""
        last: dict[str, Any] = {}
        for page in self._http.pages(f"/repos/{self.repository}/pulls/{head.number}/reviews"):
            for review in page:
                login = str((review.get("user") or {}).get("login", ""))
                if review["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED") and login not in ("", head.author):
                    last[login] = review
        agree = [
            who for who, review in last.items() if (review["state"], review["commit_id"]) == ("APPROVED", head.sha)
        ]
        return next((sanitize(who, 100) for who in agree if self._may_push(who)), "")

    def _may_push(self, login: str) -> bool:
        permission = self._http.find(f"/repos/{self.repository}/collaborators/{quote(login, safe='')}/permission")
        return permission is not None and permission["permission"] in ("admin", "write")

    @understood
    def report(self, whole: Whole, page: str) -> None:
        submission = whole.submission
        self._status(whole, page)
        if submission.state in (State.SUPERSEDED, State.WITHDRAWN):
            return
        mine = self._comment(submission)
        if mine is None and whole.decision is None:
            return  # the status says that it waits; a comment comes with the decision
        pull = self._pull(submission.number)
        if pull is None or _sha(pull) != submission.sha:
            return  # the comment speaks of the newest commit
        body = {"body": report.comment(whole, page)}
        if mine is None:
            self._http.send("POST", f"/repos/{self.repository}/issues/{submission.number}/comments", body)
        elif mine["body"] != body["body"]:
            self._http.send("PATCH", f"/repos/{self.repository}/issues/comments/{int(mine['id'])}", body)

    @understood
    def close(self, submission: Submission) -> None:
        pull = self._pull(submission.number)
        if pull and pull["state"] == "open" and _sha(pull) == submission.sha:
            self._http.send("PATCH", f"/repos/{self.repository}/pulls/{submission.number}", {"state": "closed"})

    def end(self) -> None:
        self._http.end()

    def credentials(self, address: str) -> Mapping[str, str]:
        """Variables for git."""
        return basic_authorization(address, "x-access-token", self._token)

    def _status(self, whole: Whole, page: str) -> None:
        submission, decided = whole.submission, whole.decision
        state = _STATES[Answer(decided.answer)] if decided else "pending"
        if submission.trouble or submission.state in (State.SUPERSEDED, State.WITHDRAWN):
            state = "error"
        body = {"state": state, "description": report.line(whole), "context": report.status_name(submission.name)}
        body |= {"target_url": page} if page else {}
        self._http.send("POST", f"/repos/{self.repository}/statuses/{submission.sha}", body)

    def _who(self) -> str:
        """The name under which its comments stand."""
        self._login = self._login or str(self._http.get("/user")["login"])
        return self._login

    def _pull(self, number: int) -> Any:
        return self._http.find(f"/repos/{self.repository}/pulls/{number}")

    def _comment(self, submission: Submission) -> Any:
        """Ours, with the marker: anybody could write the marker into a comment of his own."""
        marker = report.MARKER.format(name=submission.name)
        for page in self._http.pages(f"/repos/{self.repository}/issues/{submission.number}/comments"):
            for comment in page:
                who = (comment.get("user") or {}).get("login")  # null: the account is gone
                if str(comment.get("body")).startswith(marker) and who == self._who():
                    return comment
        return None


def _sha(pull: Any) -> str:
    """ "" for a request without a head: what it came from was deleted."""
    return str((pull.get("head") or {}).get("sha") or "")


def _head(pull: Any) -> Head:
    number = int(pull["number"])
    head = pull["head"]
    return Head(
        sha=_sha(pull),
        # A fork that was deleted has no repository, no owner, and then no label; its commits stay at the forge.
        branch=sanitize(str(head.get("label") or head.get("ref") or f"pull/{number}"), 200),
        ref=f"refs/pull/{number}/head",
        number=number,
        author=sanitize(str((pull.get("user") or {}).get("login", "")), 100),
        title=sanitize(str(pull.get("title") or ""), 200),
        url=str(pull["html_url"]),
    )

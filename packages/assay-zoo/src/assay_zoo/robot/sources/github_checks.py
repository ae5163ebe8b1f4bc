"""A check run with annotations, and the commit status that takes its place where there is no App."""

from __future__ import annotations

from typing import Any

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.robot import report
from assay_zoo.robot.queue_records import State, Whole
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.zoo_files import SUBMISSIONS

AT_ONCE = 50
"""Annotations that GitHub takes in one request."""
_LEVELS = {
    CheckOutcome.FAILED: "failure",
    CheckOutcome.UNDECIDED: "warning",
    CheckOutcome.INFRASTRUCTURE: "warning",
    CheckOutcome.WAIVED: "notice",
}
_CONCLUSIONS = {
    # Not "neutral": a branch that asks for the check would take it as passed.
    Answer.PROMOTE: "success",
    Answer.DECLINE: "failure",
    Answer.PERSON: "action_required",
    Answer.RETRY: "action_required",
}
_STATES = {Answer.PROMOTE: "success", Answer.DECLINE: "failure", Answer.PERSON: "pending", Answer.RETRY: "error"}


def check_name(name: str) -> str:
    """Of the check run or the status: one for each submission."""
    return f"assay zoo: {name}"


def pointing(whole: Whole) -> list[Check]:
    """Each finding that points into a file, in the order of the checks."""
    decided = whole.decision
    return [check for check in decided.checks if check.outcome in _LEVELS and check.path] if decided else []


def place_of(name: str, check: Check) -> str:
    """The file of a finding, in the repository."""
    return f"{SUBMISSIONS}/{name}/{check.path}"


def findings(whole: Whole) -> list[dict[str, Any]]:
    """The same as annotations."""
    return [_annotation(whole.submission.name, check) for check in pointing(whole)]


def _annotation(name: str, check: Check) -> dict[str, Any]:
    line = max(check.line, 1)
    return {
        "path": place_of(name, check),
        "start_line": line,
        "end_line": line,
        "annotation_level": _LEVELS[check.outcome],
        "title": check.name,
        "message": sanitize(check.sentence, 4000) or check.name,
    }


class CheckRuns:
    """Check runs of an App, found again by their external id, so that a repeated report changes the same one."""

    def __init__(self, http: ForgeHttp, repository: str, app: int) -> None:
        self._http, self._repository, self._app = http, repository, app

    def report(self, whole: Whole, page: str) -> None:
        run = self._found(whole) or self._made(whole, page)
        output = {"title": report.line(whole), "summary": report.summary(whole)}
        if whole.decision is None and whole.submission.state in (State.QUEUED, State.RUNNING):
            status = "queued" if whole.submission.state is State.QUEUED else "in_progress"
            if run["status"] != status:
                self._change(run, {"status": status, "output": output})
            return
        # GitHub adds annotations to those that it has: after a cut, only the rest is sent.
        sent = int((run.get("output") or {}).get("annotations_count") or 0)
        rest = findings(whole)[sent:]
        while len(rest) > AT_ONCE:
            self._change(run, {"output": {**output, "annotations": rest[:AT_ONCE]}})
            rest = rest[AT_ONCE:]
        last = {**output, "annotations": rest} if rest else output
        self._change(run, {"status": "completed", "conclusion": _conclusion(whole), "output": last})

    def _found(self, whole: Whole) -> Any:
        submission = whole.submission
        path = f"/repos/{self._repository}/commits/{submission.sha}/check-runs"
        for page in self._http.pages(path, check_name=check_name(submission.name), filter="all"):
            for run in page["check_runs"]:
                if run["external_id"] == _external(whole) and (run.get("app") or {}).get("id") == self._app:
                    return run
        return None

    def _made(self, whole: Whole, page: str) -> Any:
        submission = whole.submission
        body = {
            "name": check_name(submission.name),
            "head_sha": submission.sha,
            "external_id": _external(whole),
            "status": "queued",
        }
        body |= {"details_url": page} if page else {}
        return self._http.send("POST", f"/repos/{self._repository}/check-runs", body).json()

    def _change(self, run: Any, body: dict[str, Any]) -> None:
        self._http.send("PATCH", f"/repos/{self._repository}/check-runs/{int(run['id'])}", body)


class Statuses:
    """Commit statuses, which any token may write."""

    def __init__(self, http: ForgeHttp, repository: str) -> None:
        self._http, self._repository = http, repository

    def report(self, whole: Whole, page: str) -> None:
        submission, decided = whole.submission, whole.decision
        state = _STATES[Answer(decided.answer)] if decided else "pending"
        state = "error" if submission.trouble else state
        state = "error" if submission.state in (State.SUPERSEDED, State.WITHDRAWN) else state
        body = {"state": state, "description": report.line(whole), "context": check_name(submission.name)}
        body |= {"target_url": page} if page else {}
        self._http.send("POST", f"/repos/{self._repository}/statuses/{submission.sha}", body)


def _external(whole: Whole) -> str:
    return f"{whole.submission.id}.{whole.submission.round}"


def _conclusion(whole: Whole) -> str:
    if whole.decision is None:
        return "cancelled"
    # Accepted and not promoted is no success: somebody must look at it.
    return "action_required" if whole.submission.trouble else _CONCLUSIONS[Answer(whole.decision.answer)]

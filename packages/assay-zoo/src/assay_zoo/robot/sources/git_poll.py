"""A plain git repository, polled: branches `submission/NAME` come in, a branch `assay-status` tells what became of them."""

from __future__ import annotations

from assay_zoo.robot import report
from assay_zoo.robot.config_schema import GitTable
from assay_zoo.robot.mirror import Change, Mirror, cleaned
from assay_zoo.robot.queue_records import Head, Submission, Whole


class GitPoll:
    """No account and no forge. On the status branch lie `NAME/SHA.json` for machines and `NAME/SHA.md` for people."""

    def __init__(self, table: GitTable, mirror: Mirror, repository: str) -> None:
        self.repository, self.poll_s = repository, table.poll_s
        self._prefix, self._status = table.prefix, table.status
        self._mirror = mirror

    def heads(self) -> list[Head]:
        return [self._head(branch, sha) for branch, sha in self._mirror.listed(f"{self._prefix}*").items()]

    def head(self, branch: str, number: int) -> Head | None:  # noqa: ARG002 - a branch has no number
        sha = self._mirror.listed(branch).get(branch)
        return self._head(branch, sha) if sha else None

    def names(self, head: Head, candidates: list[str]) -> list[str]:
        """The one after which the branch is called, else all that it changes. A branch without any is still answered."""
        named = cleaned(head.branch.removeprefix(self._prefix))
        return [named] if named in candidates or not candidates else candidates

    def approved(self, head: Head) -> str:  # noqa: ARG002
        """Nobody can, here: a maintainer says it to the robot, or in zoo.toml."""
        return ""

    def report(self, whole: Whole, page: str) -> None:
        submission = whole.submission
        files = {
            f"{submission.name}/{submission.sha}.json": report.as_json(whole, page),
            f"{submission.name}/{submission.sha}.md": report.comment(whole, page).encode(),
        }
        change = Change(files=files, message=f"{submission.name} at {submission.sha[:12]}: {report.line(whole)}\n")
        self._mirror.commit(self._status, lambda _: change)

    def close(self, submission: Submission) -> None:
        """The branch stays: it is the submitter's."""

    def end(self) -> None:
        """git keeps no connection."""

    def _head(self, branch: str, sha: str) -> Head:
        return Head(sha=sha, branch=branch, ref=f"refs/heads/{branch}")

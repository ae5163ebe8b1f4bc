"""A promotion as one commit on the zoo's branch: what was checked goes in, and nothing else of the submitter's branch."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from assay.errors import HarnessError, UsageError
from assay_zoo.inspect import Inspection
from assay_zoo.manifest import Version, read_manifest
from assay_zoo.robot.config import RobotConfig
from assay_zoo.robot.mirror import Change, Mirror
from assay_zoo.robot.queue_records import Head, State, Submission
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.sources.source import Source
from assay_zoo.zoo_files import INDEX, MANIFEST, MODELS, POLICY, SCENARIOS, SUBMISSIONS

BY = "assay zoo robot"


class Gone(HarnessError):
    """The branch or request does not have the commit any more that was to be promoted."""

    def __init__(self, text: str, state: State) -> None:
        super().__init__(text)
        self.state = state


class Promoter:
    """Used by one thread. Repeating a promotion that was cut off finishes it, or finds that nothing is left to do."""

    def __init__(self, config: RobotConfig, source: Source, mirror: Mirror) -> None:
        self._config, self._source, self._mirror = config, source, mirror

    def promote(self, submission: Submission, inspection: Inspection, *, merges: bool = True) -> str:
        """The commit. The request ends merged by it where it `merges`, and its commits bring nothing but what was checked. Raises
        UsageError where a person must look at it, HarnessError where it is worth trying again."""
        base = self._mirror.fetch_base()
        if (version := self._served(base, submission, inspection)) is None:
            self._still_wanted(submission)
            with tempfile.TemporaryDirectory(prefix="promote-", dir=self._work()) as scratch:
                made = self._mirror.commit(
                    self._config.zoo.branch,
                    lambda onto: self._change(onto, submission, inspection, Path(scratch) / onto, merges),
                )
            if made:
                return made
            base = self._mirror.fetch_base()
            version = self._served(base, submission, inspection)
        if version is None:
            raise UsageError(f"the zoo did not change by the promotion of {submission.name}: promote it by hand")
        return self._mirror.last_commit(base, f"{MODELS}/{submission.name}/{version.version}") or base

    def merged(self, submission: Submission, commit: str) -> bool:
        """Whether the zoo's branch has the submitter's own commit since then: the forge ends the request itself."""
        return self._mirror.holds(commit, submission.sha)

    def _still_wanted(self, submission: Submission) -> None:
        now = self._source.head(submission.branch, submission.number)
        if now is None:
            raise Gone(f"{submission.branch} was withdrawn before the promotion", State.WITHDRAWN)
        if now.sha != submission.sha:
            raise Gone(
                f"{submission.branch} moved to {now.sha[:12]} before the promotion; that commit is checked instead",
                State.SUPERSEDED,
            )
        self._mirror.fetch_head(
            Head(sha=submission.sha, branch=submission.branch, ref=submission.ref, number=submission.number)
        )

    def _served(self, base: str, submission: Submission, inspection: Inspection) -> Version | None:
        """The version of the zoo that has these very files; one that was withdrawn since is none."""
        with tempfile.TemporaryDirectory(prefix="promote-", dir=self._work()) as scratch:
            root = Path(scratch)
            self._export(base, [MANIFEST], root)
            entry = read_manifest(root).models.get(submission.name)
            versions = entry.versions if entry else ()
            return next(
                (each for each in versions if each.digest == inspection.digest and each.withdrawn is None), None
            )

    def _change(self, onto: str, submission: Submission, inspection: Inspection, root: Path, merges: bool) -> Change:
        from assay_zoo.promote import promote

        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        self._export(onto, [POLICY, SCENARIOS, MANIFEST, INDEX, f"{MODELS}/{submission.name}"], root)
        self._export(submission.sha, [f"{SUBMISSIONS}/{submission.name}"], root)
        done = promote(root, submission.name, inspection, BY)
        files = [path for path in (root / MODELS / submission.name).rglob("*") if path.is_file()]
        files += [root / MANIFEST, root / INDEX]
        return Change(
            files={path.relative_to(root).as_posix(): path for path in files},
            cleared=(f"{MODELS}/{submission.name}", f"{SUBMISSIONS}/{submission.name}"),
            message=_message(done.sentence, submission, inspection),
            merged=submission.sha
            if merges and self._mirror.brings_only(submission.sha, onto, f"{SUBMISSIONS}/{submission.name}")
            else "",
        )

    def _export(self, commit: str, paths: list[str], into: Path) -> None:
        limits = self._config.limits
        refused = self._mirror.export(
            commit, paths, into, most_bytes=limits.checkout_bytes, most_files=limits.checkout_files
        )
        if refused:
            raise HarnessError(f"{commit[:12]} cannot be taken for a promotion: {refused[0].sentence}")

    def _work(self) -> Path:
        folder = self._config.data / "work"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _message(sentence: str, submission: Submission, inspection: Inspection) -> str:
    """With trailers that git knows how to read; who submitted it, as far as that is known."""
    by = f"Submitted-by: {sanitize(inspection.author, 100)}\n" if inspection.author else ""
    return f"{sanitize(sentence, 200)}\n\n{by}Submission-Commit: {submission.sha}\nSubmission-Digest: {inspection.digest}\n"

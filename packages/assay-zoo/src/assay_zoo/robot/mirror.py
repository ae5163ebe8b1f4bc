"""The robot's own bare copy of the zoo's repository: what is submitted comes in here, and commits go out from here."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from assay.errors import HarnessError, UsageError
from assay_zoo.check import Check
from assay_zoo.robot.export import export
from assay_zoo.robot.git import Git, GitFailed, GitTooLarge, globs_behind
from assay_zoo.robot.queue_records import Head, Submission
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.tree_size import count_entries
from assay_zoo.zoo_files import SUBMISSIONS

_LOG = logging.getLogger("assay.robot.mirror")
COMPARED_MOST = 100_000
"""Entries below submissions/ of one commit that are compared with the zoo."""
NAMED_MOST = 20
_PUSHES = 6
_REFUSED = ("checked out", "hook declined", "protected branch", "rule violations", "GH006", "GH013")
"""Words of git and of the forges for a branch that has rules: the same push is refused again."""
_QUICKER = ("rejected", "non-fast-forward", "cannot lock ref", "failed to update ref")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Moved(HarnessError):
    """A branch is not at the commit any more that it was said to be at."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit does: `cleared` folders are emptied, then `files` (bytes, or a file with them) are put in. `merged` is a
    commit that the branch has from then on, whatever its files are."""

    files: Mapping[str, bytes | Path]
    message: str
    cleared: tuple[str, ...] = ()
    merged: str = ""


class Mirror:
    """Safe in several threads of one process; the folder belongs to one robot."""

    def __init__(
        self,
        folder: Path,
        address: str,
        *,
        branch: str = "main",
        committer: str = "Assay robot <assay@localhost>",
        credentials: Callable[[], Mapping[str, str]] = dict,
        fetch_s: float = 900.0,
    ) -> None:
        self._git = Git(folder, credentials)
        self._address, self._branch, self._fetch_s = address, branch, fetch_s
        self._name, _, email = committer.partition(" <")
        self._email = email.rstrip(">")
        self._fetching = threading.Lock()
        self._listed_to: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._git.run("init", "--quiet", "--bare", str(folder))  # changes nothing where it was done

    def listed(self, pattern: str) -> dict[str, str]:
        """Branches of the remote by name, each with its commit; of too many to be listed some, in their order, and the next time those
        behind them. Raises GitFailed."""
        behind = self._listed_to.pop(pattern, "")
        refs = [f"refs/heads/{glob}" for glob in (globs_behind(behind) if behind else [pattern])]
        listed = self._git.run("ls-remote", "--heads", self._address, *refs, remote=True, timeout_s=60, cut=True)
        is_cut = len(listed) > self._git.output_bytes
        if is_cut:
            listed = listed[: listed.rfind(b"\n") + 1]
            text = "%s has more branches than can be listed: %d are looked at now, delete some"
            _LOG.error(text, self._address, listed.count(b"\n"))
        pairs = (line.split("\t") for line in listed.decode("utf-8", "replace").splitlines())
        branches = {ref.removeprefix("refs/heads/"): sha for sha, ref in pairs}
        if is_cut and branches:
            self._listed_to[pattern] = next(reversed(branches))
        return {name: sha for name, sha in branches.items() if not behind or fnmatchcase(name, pattern)}

    def reach(self) -> None:
        """Raises GitFailed where the repository cannot be asked."""
        self.listed(self._branch)

    def fetch_base(self) -> str:
        """The newest commit of the zoo's branch. Raises GitFailed, UsageError where the zoo has none."""
        try:
            self._fetch(f"+refs/heads/{self._branch}:refs/assay/base")
        except GitFailed as error:
            if "couldn't find remote ref" in str(error):
                raise UsageError(
                    f"{self._address} has no branch {self._branch}: name the zoo's own in robot.toml"
                ) from None
            raise
        return self._git.text("rev-parse", "refs/assay/base")

    def text(self, path: str) -> str:
        """A file of the zoo's branch as it was fetched last. Raises GitFailed."""
        return self._git.run("show", f"refs/assay/base:{path}").decode("utf-8", "replace")

    def fetch_head(self, head: Head) -> None:
        """Raises Moved where its branch has another commit by now, GitFailed."""
        here = f"refs/assay/heads/{head.sha}"
        if self._has(head.sha):
            return
        self._fetch(f"+{head.ref}:{here}")
        fetched = self._git.text("rev-parse", here)
        if fetched != head.sha:
            self._git.run("update-ref", "-d", here)
            raise Moved(f"{head.branch} is at {fetched[:12]} by now, not at {head.sha[:12]}")

    def submissions_of(self, head: Head, base: str) -> list[str]:
        """Names of the folders of submissions that a head changes against the zoo, sorted."""
        if self._too_large(head.sha):
            return self._top_folders(head.sha)
        try:
            fork = self._git.text("merge-base", base, head.sha)
        except GitFailed:
            fork = _EMPTY_TREE
        listed = self._git.run(
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--diff-filter=d",
            fork,
            head.sha,
            "--",
            f"{SUBMISSIONS}/",
        )
        parts = (path.decode("utf-8", "replace").split("/") for path in listed.split(b"\0") if path)
        # A name that cannot be one is looked for under the nearest that can: then it is said that it is not there.
        return sorted({cleaned(part[1]) for part in parts if len(part) > 2})

    def _too_large(self, sha: str) -> bool:
        """Whether the submissions of a commit are more than can be compared: the export of each says so to its author."""
        try:
            count_entries(self._git, sha, SUBMISSIONS, COMPARED_MOST)
        except GitTooLarge:
            return True
        return False

    def _top_folders(self, sha: str) -> list[str]:
        """The folders of submissions of a commit that are nowhere on the zoo's branch, without a look into them."""
        here = self._git.run("ls-tree", "-z", "--name-only", f"{sha}:{SUBMISSIONS}").split(b"\0")[:NAMED_MOST]
        return sorted({cleaned(name.decode("utf-8", "replace")) for name in here if name})

    def export(self, commit: str, paths: Iterable[str], into: Path, *, most_bytes: int, most_files: int) -> list[Check]:
        """As `export.export`."""
        return export(self._git, commit, list(paths), into, most_bytes=most_bytes, most_files=most_files)

    def author_of(self, submission: Submission) -> str:
        """Who hands it in: of a request the forge says it, of a branch the commit, in which anybody who may push can write any
        address. An account that is gone, and a commit without an address, are nobody else."""
        if submission.author:
            return submission.author
        if submission.number:
            return f"an account that is gone (request {submission.number})"
        address = sanitize(self._git.text("log", "-1", "--format=%ae", submission.sha, "--"), 100)
        return address or f"nobody by name (branch {submission.branch})"

    def last_commit(self, commit: str, path: str) -> str:
        """The newest commit up to `commit` that changed `path`."""
        return self._git.text("log", "-1", "--format=%H", commit, "--", path)

    def holds(self, commit: str, sha: str) -> bool:
        """Whether `sha` is `commit`, or came before it."""
        try:
            self._git.run("merge-base", "--is-ancestor", sha, commit)
        except GitFailed:
            return False
        return True

    def brings_only(self, sha: str, base: str, folder: str) -> bool:
        """Whether the commits up to `sha` that `base` does not have change nothing outside of `folder`, and hold no contents that
        their last one has no more: then the zoo may have these commits in its history."""
        news = (f"{base}..{sha}",)
        try:
            fork = self._git.text("merge-base", base, sha)
            elsewhere = self._git.text("rev-list", "--max-count=1", *news, "--", ".", f":(exclude,top){folder}")
            gone = self._git.text(
                "rev-list", "--objects", "--filter=object:type=blob", "--filter-provided-objects", *news,
                f"^{sha}^{{tree}}", f"^{fork}",
            )  # fmt: skip
        except GitFailed:
            return False
        return not elsewhere and not gone

    def keep_only(self, shas: Iterable[str]) -> None:
        """Forget the heads that are not among `shas`; git drops their objects in time."""
        wanted = set(shas)
        refs = self._git.text("for-each-ref", "--format=%(refname)", "refs/assay/heads/").split()
        for ref in refs:
            if ref.rpartition("/")[2] not in wanted:
                self._git.run("update-ref", "-d", ref)

    def tidy(self) -> None:
        """Drop what is needed no more and older than a day: what is being made at this moment stays. Raises GitFailed."""
        self._git.run("gc", "--quiet", "--prune=1.day.ago", timeout_s=3600)

    def commit(self, branch: str, change: Callable[[str], Change | None]) -> str:
        """Put a commit on a branch of the remote and return it; "" where there is nothing to change.

        `change` is called with the branch's newest commit ("" for a branch to be made), again for each time that
        somebody else was quicker. Raises GitFailed, UsageError where the remote takes no commit of ours.
        """
        for attempt in range(_PUSHES):
            parent = self._parent(branch)
            wanted = change(parent)
            if wanted is None:
                return ""
            tree = self._tree(parent, wanted)
            if parent and tree == self._git.text("rev-parse", f"{parent}^{{tree}}"):
                return ""
            made = self._commit(tree, [parent_id for parent_id in (parent, wanted.merged) if parent_id], wanted.message)
            try:
                self._git.run("push", "--quiet", self._address, f"{made}:refs/heads/{branch}", remote=True)
                return made
            except GitFailed as error:
                if any(word in str(error) for word in _REFUSED):
                    text = f"{branch} takes no commit of the robot: let it push there, then have it checked again ({error})"
                    raise UsageError(text) from None
                if not any(word in str(error) for word in _QUICKER) or attempt == _PUSHES - 1:
                    raise
        raise AssertionError("unreachable")

    def _parent(self, branch: str) -> str:
        here = f"refs/assay/onto/{branch}"
        try:
            self._fetch(f"+refs/heads/{branch}:{here}")
        except GitFailed as error:
            if "couldn't find remote ref" in str(error):
                return ""
            raise
        return self._git.text("rev-parse", here)

    def _tree(self, parent: str, change: Change) -> str:
        with tempfile.TemporaryDirectory(prefix="index-", dir=self._git.folder) as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            self._git.run("read-tree", parent or "--empty", variables=index)
            lines: list[bytes] = []
            for folder in change.cleared:
                there = self._git.run("ls-files", "-z", "--", folder, variables=index)
                lines += [f"0 {'0' * 40}\t".encode() + path for path in there.split(b"\0") if path]
            lines += [
                f"100644 {self._blob(data)}\t".encode() + os.fsencode(path) for path, data in change.files.items()
            ]
            self._git.run("update-index", "-z", "--index-info", input_bytes=b"\0".join([*lines, b""]), variables=index)
            return self._git.run("write-tree", variables=index).decode().strip()

    def _blob(self, data: bytes | Path) -> str:
        # --no-filters: an attribute file among the data must not change what is stored.
        if isinstance(data, Path):
            return self._git.text("hash-object", "-w", "--no-filters", "--", str(data))
        return self._git.run("hash-object", "-w", "--no-filters", "--stdin", input_bytes=data).decode().strip()

    def _commit(self, tree: str, parents: list[str], message: str) -> str:
        who = {
            "GIT_AUTHOR_NAME": self._name,
            "GIT_AUTHOR_EMAIL": self._email,
            "GIT_COMMITTER_NAME": self._name,
            "GIT_COMMITTER_EMAIL": self._email,
        }
        words = ["commit-tree", tree, *(word for parent in parents for word in ("-p", parent))]
        return self._git.run(*words, input_bytes=message.encode(), variables=who).decode().strip()

    def _has(self, sha: str) -> bool:
        try:
            return self._git.text("rev-parse", "--verify", "--quiet", f"refs/assay/heads/{sha}") == sha
        except GitFailed:
            return False

    def _fetch(self, refspec: str) -> None:
        words = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
        with self._fetching:
            self._git.run(*words, self._address, refspec, remote=True, timeout_s=self._fetch_s)


def cleaned(name: str) -> str:
    """The name itself where it is one that a submission may have, else the nearest that is."""
    if _NAME.fullmatch(name):
        return name
    rest = re.sub(r"[^a-z0-9._-]", "-", name.lower()).lstrip("._-")
    return rest[:64] or "unnamed"

"""From what is submitted now to jobs in the queue: all of it is looked at now and then."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from assay.errors import AssayError, HarnessError
from assay_zoo.conflicts import is_among
from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.mirror import Mirror, Moved, cleaned
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Head, Submission
from assay_zoo.robot.sources.source import Source, SourceFailed
from assay_zoo.robot.zoo_policy import approved_authors

_LOG = logging.getLogger("assay.robot.looking")
_SLEEP_S = 1.0
_LONGEST_S = 600.0
_SOON_S = 5.0
_TIDY_S = 86400.0
_AT_ONCE = 200
"""New heads that one look takes: approvals wait meanwhile."""
_ASKED = 20
"""Approvals that one look asks the forge for: GitHub answers 5,000 questions an hour."""
_MISSES = 3
"""Looks at a head that cannot be fetched; then its author hears it."""


class SubmissionPoller:
    """One thread. What cannot be reached now is looked at again."""

    def __init__(
        self,
        source: Source,
        mirror: Mirror,
        queue: Queue,
        *,
        wake_workers: Callable[[], None],
    ) -> None:
        self._source, self._mirror, self._queue = source, mirror, queue
        self._wake_workers = wake_workers
        self._seen: dict[tuple[str, int], str] = {}
        self._missed: dict[str, int] = {}
        self._tries = Counter[str]()
        self._doubted: deque[str] = deque()
        self._soon = False
        self._asked_s = 0.0
        self._asked_last = 0
        self._tidied = time.monotonic()

    def look_again(self, sha: str) -> None:
        """Whoever hands in this commit is looked at again soon. Any thread may say so: the poller's own forgets what it has seen."""
        self._doubted.append(sha)

    def run(self, stop: threading.Event) -> None:
        """Until `stop`."""
        failures, next_at = 0, 0.0
        while not stop.is_set():
            if time.monotonic() >= next_at:
                failures = 0 if self._try(self.look_everywhere) else failures + 1
                # A source that failed is asked again soon, then less and less often; not before it asked to be.
                soon = max(min(_SOON_S * 2 ** min(failures - 1, 7), _LONGEST_S), self._asked_s)
                wait = soon if failures else self._source.poll_s
                next_at = time.monotonic() + wait
            if self._soon or self._doubted:
                self._soon, next_at = False, min(next_at, time.monotonic() + _SOON_S)
            self._try(self._queue.database.tidy)
            stop.wait(min(_SLEEP_S, self._source.poll_s))

    def look_everywhere(self) -> None:
        """Everything that is submitted now comes into the queue, and what is gone leaves it. Raises HarnessError."""
        while self._doubted:
            self._forget(self._doubted.popleft())
        heads = self._source.heads()
        known = {(head.branch, head.number): head.sha for head in heads}
        left = {place: sha for place, sha in self._seen.items() if known.get(place) != sha}
        for place in left:
            self._leave(place)
        for counts in (self._tries, self._missed):
            for sha in set(counts) - set(known.values()):
                del counts[sha]
        fresh = [head for head in heads if self._seen.get((head.branch, head.number)) != head.sha]
        # What failed waits behind the others. Who moved on comes first: it cancels its older commit, which is another's then.
        fresh.sort(key=lambda head: (self._tries[head.sha], head.sha in left.values()))
        for branch, number in self._queue.open_branches(self._source.repository):
            if (branch, number) not in known and self._source.head(branch, number) is None:
                self._queue.withdraw(self._source.repository, branch, number, f"{branch} is gone")
        base = self._mirror.fetch_base()  # also where nothing is new: a rollback is seen by it
        self._soon = self._soon or any(not self._tries[head.sha] for head in fresh[_AT_ONCE:])
        for head in fresh[:_AT_ONCE]:
            self._take(head, base)
        self._approve({(head.branch, head.number): head for head in heads})
        if fresh:
            self._mirror.keep_only({*known.values(), *self._queue.open_heads()})
        if time.monotonic() - self._tidied > _TIDY_S:
            self._mirror.tidy()
            self._tidied = time.monotonic()

    def _leave(self, place: tuple[str, int]) -> bool:
        """A branch or request has its commit no more: whoever else hands in that one is looked at again. Whether anybody does."""
        return self._forget(self._seen.pop(place, ""))

    def _forget(self, sha: str) -> bool:
        places = [place for place, seen_sha in self._seen.items() if seen_sha == sha]
        for place in places:
            del self._seen[place]
        return bool(places)

    def _approve(self, heads: Mapping[tuple[str, int], Head]) -> None:
        """What waits for an approval is checked once a maintainer gave it, at the forge or in zoo.toml."""
        waiting = [
            (submission, heads.get((submission.branch, submission.number)))
            for submission in self._queue.unapproved(self._source.repository, {head.sha for head in heads.values()})
        ]
        if not waiting:
            return
        self._mirror.fetch_base()
        known = approved_authors(self._mirror)
        asked: list[tuple[Submission, Head]] = []
        for submission, head in waiting:
            if head is None or head.sha != submission.sha:
                continue
            if is_among(self._mirror.author_of(submission), known):
                self._approved(submission, "zoo.toml")
            else:
                asked.append((submission, head))
        for submission, head in self._in_turn(asked):
            self._approved(submission, self._source.approved(head))

    def _in_turn(self, asked: list[tuple[Submission, Head]]) -> Iterator[tuple[Submission, Head]]:
        """Those whose turn it is: behind the one that was asked for last, then from the first one on."""
        turns = sorted(asked, key=lambda each: (each[0].id <= self._asked_last, each[0].id))
        for submission, head in turns[:_ASKED]:
            self._asked_last = submission.id
            yield submission, head

    def _approved(self, submission: Submission, by: str) -> None:
        if by and self._queue.approve(submission.id, by):
            self._wake_workers()

    def _take(self, head: Head, base: str) -> None:
        place = (head.branch, head.number)
        self._tries[head.sha] += 1
        try:
            self._mirror.fetch_head(head)
            names = self._source.names(head, self._mirror.submissions_of(head, base))
        except Moved:
            self.look_again(head.sha)  # the forge's git is a moment behind its word, or it moved on
            return
        except HarnessError as error:
            # One head that cannot be fetched (a broken object in it) must not keep the others out.
            if self._missed.get(head.sha, 0) < _MISSES:
                _LOG.error("%s at %s cannot be fetched: %s", head.branch, head.sha[:12], error)
            if isinstance(error, GitFailed):  # no fault of the disk, or of the forge
                self._missed[head.sha] = self._missed.get(head.sha, 0) + 1
            if self._missed.get(head.sha, 0) >= _MISSES:
                # It is taken into the queue under the name of its branch: the worker tells its author.
                name = cleaned(head.branch.rpartition(":")[2].rpartition("/")[2])
                self._enqueue(head, self._source.names(head, []) or [name])
            return
        self._missed.pop(head.sha, None)
        self._enqueue(head, names)
        self._seen[place] = head.sha
        del self._tries[head.sha]

    def _enqueue(self, head: Head, names: Iterable[str]) -> None:
        for name in names:
            identity, new = self._queue.enqueue(self._source.repository, head, name)
            if new or self._taken_over(identity, head):
                _LOG.info("queued", extra={"submission": identity, "zoo_name": name, "sha": head.sha})
                self._wake_workers()

    def _taken_over(self, identity: int, head: Head) -> bool:
        """The same commit by another branch or request: theirs, where the one that it was decided for is gone or has moved on."""
        known = self._queue.submission(identity)
        if known is None or (known.branch, known.number) == (head.branch, head.number):
            return False
        first = self._source.head(known.branch, known.number)
        return (first is None or first.sha != head.sha) and self._queue.take_over(identity, head)

    def _try(self, look: Callable[[], None]) -> bool:
        try:
            look()
        except AssayError as error:
            self._asked_s = error.after_s if isinstance(error, SourceFailed) else 0.0
            _LOG.warning("%s", error)
            return False
        except Exception:  # noqa: BLE001 - a thread of the service never dies of what it met
            _LOG.exception("looking for submissions failed")
            return False
        return True

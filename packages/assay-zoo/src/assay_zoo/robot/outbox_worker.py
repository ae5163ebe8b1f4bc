"""The thread that empties the outbox: reports, promotions, notifications. Whatever fails is tried again, later and later."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from assay.errors import HarnessError, StoreError, UsageError
from assay_zoo.decision import Answer
from assay_zoo.inspect import Inspection
from assay_zoo.robot.alerting import Alerts
from assay_zoo.robot.outbox import DueEntry, Outbox, OutboxEntry
from assay_zoo.robot.promotion import Gone, Promoter
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Level, Submission, Whole
from assay_zoo.robot.redact import Hides, redact
from assay_zoo.robot.sources.source import Source, SourceFailed

_LOG = logging.getLogger("assay.robot.delivering")
_FIRST_S, _LONGEST_S = 5.0, 3600.0
_IDLE_S = 2.0
_LOGGED = (1, 10)


@dataclass(frozen=True, kw_only=True)
class OutboxWorker:
    queue: Queue
    outbox: Outbox
    source: Source
    promoter: Promoter
    look_again: Callable[[str], None]
    public_url: str
    alerts: Alerts | None = None
    hides: Hides = str

    def run(self, stop: threading.Event, news: threading.Event) -> None:
        """Until `stop`."""
        while not stop.is_set():
            try:
                busy = self.deliver()
            except StoreError as error:
                _LOG.error("%s", error)
                busy = False
            except Exception:  # noqa: BLE001 - a thread of the service never dies of what it met
                _LOG.exception("the outbox failed")
                busy = False
            if not busy:
                news.wait(_IDLE_S)
                news.clear()

    def deliver(self) -> bool:
        """One thing; False where nothing is due."""
        due = self.outbox.take()
        if due is None:
            self._send_waiting()
            return False
        try:
            self._act(due)
        except UsageError as error:
            # Told once: the same is refused again until a person changes something, and then there is news.
            _LOG.warning("%s of submission %d is refused: %s", due.kind, due.submission_id, error)
            self.queue.note(due.submission_id, f"{due.kind} is refused: {error}", Level.ERROR)
            self.outbox.done(due)
        except HarnessError as error:
            self._later(due, error, error.after_s if isinstance(error, SourceFailed) else 0.0)
        except Exception as error:  # noqa: BLE001 - one delivery never keeps the others back
            _LOG.exception("a delivery failed")
            self._later(due, error, 0.0)
        else:
            self.outbox.done(due)
        return True

    def _act(self, due: DueEntry) -> None:
        whole = self.queue.whole(due.submission_id)
        if whole is None:
            return
        page = f"{self.public_url}/submissions/{due.submission_id}" if self.public_url else ""
        if due.kind is OutboxEntry.REPORT:
            self.source.report(redact(whole, self.hides), page)
        elif due.kind is OutboxEntry.PROMOTE:
            self._promote(whole)
        elif self.alerts is not None:
            self.alerts.tell(redact(whole, self.hides), page)

    def _promote(self, whole: Whole) -> None:
        submission = whole.submission
        if whole.decision is None or whole.decision.answer != Answer.PROMOTE:
            return
        if not submission.promoted:
            inspection = msgspec.json.decode(self.queue.inspection(submission.id), type=Inspection)
            try:
                # Merged with the last of its submissions: a request that is merged brings no more.
                commit = self.promoter.promote(
                    submission, inspection, merges=self._all_in(submission, but=submission.id)
                )
            except Gone as error:
                self.queue.leave(submission, error.state, str(error))
                self.look_again(submission.sha)
                return
            except UsageError as error:
                self.queue.promoted(submission.id, "", str(error), [OutboxEntry.ALERT] if self.alerts else [])
                return
            self.queue.promoted(submission.id, commit)
        else:
            commit = submission.promoted
        if self._all_in(submission) and not self.promoter.merged(submission, commit):
            self.source.close(submission)

    def _send_waiting(self) -> None:
        if self.alerts is None:
            return
        try:
            self.alerts.send_waiting()
        except HarnessError as error:
            _LOG.warning("alerts that wait were not sent: %s", error)

    def _all_in(self, submission: Submission, but: int = 0) -> bool:
        """A request may bring several submissions: it is done when the last is in. `but`: that one is not asked for."""
        here = [each for each in self.queue.find(submission.sha) if each.repository == submission.repository]
        return all(each.promoted for each in here if each.id != but)

    def _later(self, due: DueEntry, error: Exception, at_least_s: float) -> None:
        wait = max(min(_FIRST_S * 2 ** min(due.attempts, 12), _LONGEST_S), at_least_s)
        _LOG.warning("%s of submission %d failed, again in %.0f s: %s", due.kind, due.submission_id, wait, error)
        if due.attempts + 1 in _LOGGED:
            self.queue.note(due.submission_id, f"{due.kind} failed and is tried again: {error}", Level.WARNING)
        self.outbox.later(due, wait, str(error))

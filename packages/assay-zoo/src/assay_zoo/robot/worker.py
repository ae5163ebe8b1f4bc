"""One worker: takes a job, looks at its commit again, has it inspected in a child, and decides, or gives it back."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.errors import BadPolicy, HarnessError, StoreError
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer, decide
from assay_zoo.inspect import Inspection
from assay_zoo.repository import data_sets
from assay_zoo.robot.config import RobotConfig
from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.inspection_process import Ending, Progress, inspect_in_child
from assay_zoo.robot.mirror import Mirror, Moved
from assay_zoo.robot.outbox import OutboxEntry
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Decided, Head, Lease, Level, State
from assay_zoo.robot.sources.source import Source
from assay_zoo.zoo_files import INDEX, MANIFEST, MODELS, POLICY, SCENARIOS, SUBMISSIONS

_LOG = logging.getLogger("assay.robot.worker")
_IDLE_S = 2.0


@dataclass(frozen=True, kw_only=True)
class WorkerPool:
    """What all workers of a robot share. `hidden` names variables that no child may see."""

    config: RobotConfig
    queue: Queue
    source: Source
    mirror: Mirror
    look_again: Callable[[str], None]
    hidden: tuple[str, ...] = ()


class Worker:
    """A thread of its own; `name` begins with the robot's, so that a restarted robot knows its own."""

    def __init__(self, name: str, shop: WorkerPool, *, waken: threading.Event, news: threading.Event) -> None:
        self._name, self._shop = name, shop
        self._waken, self._news = waken, news
        self._limits = shop.config.limits

    def run(self, stop: threading.Event) -> None:
        """Until `stop`; a job at work is given back then."""
        while not stop.is_set():
            try:
                busy = self.work(stop)
            except StoreError as error:
                _LOG.error("%s", error)
                busy = False
            except Exception:  # noqa: BLE001 - a thread of the service never dies of what it met
                _LOG.exception("a worker failed; its job is taken up again when the lease ends")
                busy = False
            if not busy:
                self._waken.wait(_IDLE_S)
                self._waken.clear()

    def work(self, stop: threading.Event) -> bool:
        """One job; False where there is none."""
        lease = self._shop.queue.lease(self._name)
        if lease is None:
            return False
        folder = self._shop.config.data / "work" / f"{lease.job}-{lease.fence}"
        try:
            self._one(lease, folder, stop)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._news.set()
        return True

    def _one(self, lease: Lease, folder: Path, stop: threading.Event) -> None:
        queue, submission = self._shop.queue, lease.submission
        if lease.taken > self._limits.taken:
            text = f"{lease.taken - 1} workers took this up and none came back: look at the robot's log"
            self._decide(lease, [_fault(text)], "")
            return
        try:
            now = self._shop.source.head(submission.branch, submission.number)
            if now is None or now.sha != submission.sha:
                state = State.SUPERSEDED if now else State.WITHDRAWN
                queue.cancel(
                    lease, state, f"{submission.branch} is at {now.sha[:12]}" if now else f"{submission.branch} is gone"
                )
                self._shop.look_again(submission.sha)
                return
            base = self._shop.mirror.fetch_base()
            if trouble := self._fetch(now):
                self._failed(lease, [trouble], base)
                return
            approved = submission.approved or self._shop.source.approved(now)
            refused = self._export(lease, now, base, folder / "zoo")
        except Moved as error:
            queue.cancel(lease, State.SUPERSEDED, str(error))
            self._shop.look_again(submission.sha)
            return
        except (HarnessError, OSError) as error:
            # Neither the submission nor the inspection: it does not count, and it is tried until it works.
            queue.give_back(lease, f"cannot be fetched now: {error}", after_s=self._limits.retry_s, counted=False)
            return
        if refused:
            self._decide(lease, refused, base)
        else:
            self._inspect(lease, base, folder, stop, approved)

    def _fetch(self, head: Head) -> Check | None:
        """What git says against a commit, where it takes the zoo's own branch: the last try is told to its author."""
        try:
            self._shop.mirror.fetch_head(head)
        except GitFailed as error:
            sentence = f"{head.sha[:12]} of {head.branch} cannot be fetched: {error}; make the commit again and push it"
            return Check("files.commit", CheckOutcome.INFRASTRUCTURE, sentence)
        return None

    def _export(self, lease: Lease, head: Head, base: str, root: Path) -> list[Check]:
        """The zoo as it is, with the submission in it: policy, scenarios and their data are never the submitter's. Raises Moved where it
        was queued by its branch, while it could not be fetched, and its submissions have other names."""
        submission = lease.submission
        root.mkdir(parents=True)
        self._export_zoo(base, (POLICY, SCENARIOS, MANIFEST, INDEX, f"{MODELS}/{submission.name}"), root)
        try:
            self._export_zoo(base, data_sets(root), root)
        except BadPolicy as error:
            raise HarnessError(f"the zoo itself cannot be taken: {error}") from None
        refused = self._files(submission.sha, (f"{SUBMISSIONS}/{submission.name}",), root)
        folder = root / SUBMISSIONS / submission.name
        if folder.is_symlink():
            # Intake follows no link inside a submission; the folder itself must not be one, or another is taken for it.
            folder.unlink()
            sentence = f"{SUBMISSIONS}/{submission.name} is a link: a submission is a folder"
            return [Check("files.links", CheckOutcome.FAILED, sentence)]
        if not refused and not folder.is_dir():
            names = self._shop.source.names(head, self._shop.mirror.submissions_of(head, base))
            if submission.name not in names:
                raise Moved(f"it can be fetched again, and its submissions are {', '.join(names) or 'none'}")
            sentence = (
                f"the commit has no folder {SUBMISSIONS}/{submission.name}; a name consists of lower-case letters, digits, "
                "'.', '_' and '-', and begins with a letter or a digit"
            )
            return [Check("files.folder", CheckOutcome.FAILED, sentence)]
        return refused

    def _export_zoo(self, base: str, paths: tuple[str, ...], root: Path) -> None:
        if broken := self._files(base, paths, root):
            raise HarnessError(f"the zoo itself cannot be taken: {broken[0].sentence}")

    def _files(self, commit: str, paths: tuple[str, ...], root: Path) -> list[Check]:
        if not paths:
            return []
        most_bytes, most_files = self._limits.checkout_bytes, self._limits.checkout_files
        return self._shop.mirror.export(commit, paths, root, most_bytes=most_bytes, most_files=most_files)

    def _inspect(self, lease: Lease, base: str, folder: Path, stop: threading.Event, approved: str) -> None:
        queue, submission = self._shop.queue, lease.submission
        queue.note(submission.id, f"inspection begins, under the zoo of commit {base[:12]}")
        ended = inspect_in_child(
            folder / "zoo",
            submission.name,
            self._shop.config.history,
            folder,
            author=self._shop.mirror.author_of(submission),
            approved=approved,
            limit_s=self._limits.check_s,
            beat=_Heart(queue, lease, self._limits.lease_s).beat,
            beat_s=self._limits.lease_s / 6,
            stopping=stop.is_set,
            heard=lambda progress: self._heard(submission.id, progress),
            hidden=self._shop.hidden,
        )
        if ended.ending is not Ending.DONE and self._shop.config.workers == 1:
            sweep_scratch(self._shop.config.history)
        if ended.ending is Ending.LOST:
            _LOG.warning("job %d was lost to another worker or cancelled", lease.job)
        elif ended.ending is Ending.STOPPED:
            queue.give_back(lease, "the robot stops; the check begins again afterwards", counted=False)
        elif ended.inspection is None:
            self._failed(lease, [_fault(ended.sentence)], base)
        elif ended.inspection.decision.answer is Answer.RETRY:
            self._failed(lease, ended.inspection.checks, base, ended.inspection)
        else:
            self._decide(lease, ended.inspection.checks, base, ended.inspection)

    def _failed(
        self, lease: Lease, checks: list[Check] | tuple[Check, ...], base: str, inspection: Inspection | None = None
    ) -> None:
        """One attempt less; the last one is told to people, and blames nobody."""
        tried = lease.attempts + 1
        if tried >= self._limits.attempts:
            self._decide(lease, checks, base, inspection)
            return
        why = next((check.sentence for check in checks if check.outcome is CheckOutcome.INFRASTRUCTURE), "no answer")
        text = f"attempt {tried} of {self._limits.attempts} failed: {why}"
        self._shop.queue.give_back(lease, text, after_s=self._limits.retry_s * 2 ** (tried - 1))

    def _decide(
        self, lease: Lease, checks: list[Check] | tuple[Check, ...], base: str, inspection: Inspection | None = None
    ) -> None:
        decision = inspection.decision if inspection else decide(checks)
        encoded = msgspec.json.encode(inspection).decode() if inspection else ""
        decided = Decided(
            answer=decision.answer,
            reasons=decision.reasons,
            checks=tuple(checks),
            digest=inspection.digest if inspection else "",
            base=base,
            record=str(self._record(lease, inspection)) if inspection else "",
        )
        if self._shop.queue.decide(lease, decided, self._wishes(decision.answer), encoded):
            _LOG.info("decided", extra={"submission": lease.submission.id, "answer": str(decision.answer)})
        else:
            _LOG.warning("a decision on job %d came too late and was refused", lease.job)

    def _record(self, lease: Lease, inspection: Inspection) -> Path:
        from assay_zoo.records import write_record

        submission = lease.submission
        return write_record(
            self._shop.config.data / "records" / f"{submission.name}-{submission.sha[:12]}-{lease.job}.json", inspection
        )

    def _wishes(self, answer: Answer) -> list[OutboxEntry]:
        config = self._shop.config
        alert = [OutboxEntry.ALERT] if config.alerts else []
        return [OutboxEntry.PROMOTE, *alert] if answer is Answer.PROMOTE and config.zoo.promote else alert

    def _heard(self, identity: int, progress: Progress) -> None:
        if progress.begins:
            self._shop.queue.note(identity, f"{progress.begins} begins")
        elif progress.group:
            counts = ", ".join(f"{number} {outcome}" for outcome, number in progress.outcomes.items()) or "no checks"
            level = Level.WARNING if CheckOutcome.FAILED in progress.outcomes else Level.INFO
            self._shop.queue.note(identity, f"{progress.group}: {counts}, {progress.seconds:.1f} s", level)


class _Heart:
    """Renews a lease; a database that is away for a moment is borne as long as the lease lasts."""

    def __init__(self, queue: Queue, lease: Lease, lease_s: float) -> None:
        self._queue, self._lease, self._lease_s = queue, lease, lease_s
        self._renewed = time.monotonic()

    def beat(self) -> bool:
        try:
            alive = self._queue.heartbeat(self._lease)
        except StoreError:
            return time.monotonic() - self._renewed < self._lease_s
        self._renewed = time.monotonic()
        return alive


def sweep_scratch(history: str) -> None:
    """Scratch folders of inspections that were killed. Only while none is at work."""
    if "://" not in history:
        for left in Path(history).glob("zoo-*"):
            shutil.rmtree(left, ignore_errors=True)


def _fault(sentence: str) -> Check:
    return Check("robot.inspection", CheckOutcome.INFRASTRUCTURE, sentence)

"""A session on one page: arms are chosen, screened, and what looks wrong is looked into, until the time is over.

choose -> screen (workers) -> count -> look into the suspects (check, witnesses, triage) -> buckets -> choose
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.job import ScreenJob
from assay.core.outcome import Outcome
from assay.core.result import Result, ScreenResult
from assay.core.screening import CaseId, Suspect
from assay.errors import UsageError
from assay.fuzz.arm_progress import add_counts, end_of, ended, screened
from assay.fuzz.bandit import choose, paid, spent
from assay.fuzz.corpus import CAUSES, Arm, Bucket, Corpus, Session, Waiting, confirms, is_cause, is_compared
from assay.fuzz.fuzz_text import looking_text, screening_text
from assay.fuzz.known import is_believed, may_be_of, refer, right_by_luck
from assay.fuzz.look import UNCHECKED, Look
from assay.fuzz.made_again import made_again
from assay.fuzz.nearest import may_be_a_cause, nearest
from assay.fuzz.next_cases import MOST, reached, screen_job
from assay.fuzz.next_suspects import new_looking_first
from assay.fuzz.same_cause import Relation
from assay.fuzz.suspect_signature import signature
from assay.fuzz.swapped import with_swaps
from assay.pipeline.adapters import Services

BATCH_S = 4.0
"""Of one job of screening."""
LOOKS = 2
"""Suspects of one signature that are looked into; the rest is counted."""
MOST_LOOKS = 6
"""The same, where none of those before could be judged, or no witness could answer in their types."""
SHARE = 0.6
"""Of the session's time that looking into suspects may take before screening goes on."""
AT_ONCE = 8
"""Suspects that are looked into together: the witnesses start once for all."""
REST_S = 20.0
"""Fewer are looked into after so much screening."""


class Fuzzing:
    """`arms` are the names of those that are asked; `tell` is called with each sentence that a person who waits should see, `doing` with
    what goes on; `used_s` says what processor time the session has used in all."""

    def __init__(
        self,
        corpus: Corpus,
        session: Session,
        flows: Sequence[Flow],
        services: Services,
        tell: Callable[[str], None],
        arms: Collection[str],
        used_s: Callable[[], float],
        doing: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._doing = doing
        self.arms, self.ends, self.used_s = arms, dict[str, int](), used_s
        self.corpus, self.session, self.services, self.tell = corpus, session, services, tell
        self.flows = {flow.name: flow for flow in flows}
        self.look = Look(corpus, services, tell)
        self.new: list[Bucket] = []
        self._end = self._wall_s = 0.0

    def run(self, seconds: float, workers: int, cases: int = 0) -> None:
        """Until so many seconds are over, or so many cases of each arm are done and their suspects looked into (0: any number). The
        state is kept after each step."""
        if cases:
            self.ends = {name: self.session.arms[name].next + cases for name in self.arms}
        begin = time.monotonic()
        self._end = end = begin + seconds
        self.session.runs += 1
        self._wall_s, looked, rested = self.session.wall_s - begin, self.session.looking_s, begin
        self._keep_state()  # one that is killed in its first step can be read, too
        try:
            while time.monotonic() < end:
                left = end - time.monotonic()
                used = time.monotonic() - begin
                arms = [arm for arm in self._arms() if arm.next < self.ends.get(arm.name, arm.next + 1)]
                waiting = [entry for entry in self.session.waiting if entry.flow in self.flows]
                enough = len(waiting) >= AT_ONCE or time.monotonic() - rested > REST_S or not arms
                share = (self.session.looking_s - looked) <= SHARE * used or not arms
                if waiting and enough and share:
                    self._look_into(left)
                    rested = time.monotonic()
                elif arms:
                    self._screen(choose(arms, workers), min(BATCH_S, max(left, 0.5)))
                else:
                    break
                self._keep_state()
        finally:
            self._keep_state()

    def _keep_state(self) -> None:
        self.session.wall_s, self.session.processor_s = self._wall_s + time.monotonic(), self.used_s()
        self.corpus.write(self.session)

    def _arms(self) -> list[Arm]:
        """Those that are asked, on the flows of this call."""
        return [arm for name, arm in self.session.arms.items() if name in self.arms and arm.flow in self.flows]

    def _screen(self, arms: Sequence[Arm], seconds: float) -> None:
        self._doing(screening_text(self.session, arms))
        jobs = {job.key: (arm, job) for arm in arms for job in [self._job(arm, seconds)]}
        results = self.services.jobs.complete(self._all([job for _, job in jobs.values()]))
        for result in results:
            arm, job = jobs[result.job_key]
            self._count(arm, job, result)

    async def _all(self, jobs: Sequence[ScreenJob]) -> list[Result]:
        return [result async for result in self.services.jobs.results(jobs)]

    def _job(self, arm: Arm, seconds: float) -> ScreenJob:
        job = screen_job(arm, self.flows[arm.flow], self.corpus, self.session, seconds)
        Path(job.progress).unlink(missing_ok=True)
        end = end_of(arm, self.ends.get(arm.name, arm.next + MOST))
        return replace(job, count=min(MOST, end - arm.next))

    def _count(self, arm: Arm, job: ScreenJob, result: Result) -> None:
        if isinstance(result, ScreenResult) and result.outcome is Outcome.OK:
            for whole, part in (
                (self.session.counts, result.counts),
                (self.session.seen, result.seen),
                (self.session.refused, result.refused),
                (self.session.fired, result.fired),
            ):
                add_counts(whole, arm.name if whole is self.session.counts else arm.flow, part)
            for suspect in result.suspects:
                self._meet(arm.flow, suspect)
            self.session.arms[arm.name] = screened(spent(arm, result.cpu_s), result.done)
            return
        index = reached(job)
        case = CaseId(arm.generator, arm.version, self.session.seed, index)
        kind = result.outcome.value
        if result.outcome in (Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY):
            self._meet(arm.flow, Suspect(case, kind, detail=result.signal, signal=result.signal))
        elif Path(job.progress).exists():  # one case that the screen itself does not outlive ends no session
            self.tell(f"{case} on {arm.flow} cannot be judged: {result.detail}")
        else:
            raise UsageError(f"{arm.flow} cannot be fuzzed: {kind}, {result.detail}")
        add_counts(self.session.counts, arm.name, {kind: 1})
        self.session.arms[arm.name] = ended(spent(arm, result.seconds), index)

    def _meet(self, flow: str, suspect: Suspect) -> None:
        known = self.session.looked.get(signature(flow, suspect), [])
        case_waiting = Waiting(flow, suspect)
        unchecked = suspect.kind in UNCHECKED
        if not known:
            self._refer(flow, suspect)
        seen = None if known else self.look.asked_before(case_waiting, self.flows[flow], self.session)
        if seen is not None:
            self.session.looked[signature(flow, suspect)] = [seen.key] * LOOKS
            self._counted(seen.key)
        elif unchecked and not known:
            if not self.keep(case_waiting, self.look.unchecked(case_waiting, self.flows[flow])):
                self.session.waiting.append(case_waiting)
        elif not unchecked and not self._is_looked_into(flow, suspect):
            self.session.waiting.append(case_waiting)
        else:
            self._counted(known[-1])

    def _is_looked_into(self, flow: str, suspect: Suspect) -> bool:
        """Those like it, often enough. Where no check came to a verdict another is tried, and where no witness could answer, another type:
        few engines have float64."""
        keys = self.session.looked.get(signature(flow, suspect), [])
        if suspect.kind in ("crash", "timeout") or len(keys) < LOOKS:
            return False
        buckets = [self.session.buckets[key] for key in keys if key in self.session.buckets]
        another = [bucket.status == "one_witness" and bucket.dtypes != suspect.dtypes for bucket in buckets]
        is_open = all(new or bucket.status == "not_judged" for new, bucket in zip(another, buckets, strict=True))
        return not is_open or len(keys) >= MOST_LOOKS

    def _refer(self, flow: str, subject: Suspect | Bucket) -> bool:
        """Whether all known defects that it may be are among the buckets then: the session's time may be over."""
        known, is_whole = refer(
            self.flows[flow],
            lambda case: may_be_of(case, subject),
            self.corpus,
            self.session,
            self.services,
            self._end - time.monotonic(),
        )
        if known:
            self.tell(f"{known} known defects of {flow} are compared with")
        return is_whole

    def _counted(self, key: str) -> None:
        bucket = self.session.buckets.get(key)
        if bucket is not None:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self.session.buckets[key] = replace(
                bucket, count=bucket.count + 1, found_at=bucket.found_at or now, last_at=now
            )

    def _look_into(self, left: float) -> None:
        begin = time.monotonic()
        chosen: list[Waiting] = []
        rest: list[Waiting] = []
        taken: Counter[str] = Counter()
        for waiting in new_looking_first(self.session.waiting, self.session.buckets.values()):
            name = signature(waiting.flow, waiting.suspect)
            known = self.session.looked.get(name, [])
            if self._is_looked_into(waiting.flow, waiting.suspect):
                self._counted(known[-1])
            elif (
                waiting.flow in self.flows  # an earlier call had others, too
                and len(chosen) < AT_ONCE
                and not taken[name]
                and (not chosen or chosen[0].flow == waiting.flow)
            ):
                chosen.append(waiting)
                taken[name] += 1
            else:
                rest.append(waiting)
        self.session.waiting = [*rest, *chosen]
        if chosen:
            self._look_into_these(chosen, left)
        self.session.looking_s += time.monotonic() - begin

    def _look_into_these(self, chosen: Sequence[Waiting], left: float) -> None:
        """Each waits until it is kept, whatever ends the session before."""
        self._doing(looking_text(self.session, [waiting.flow for waiting in chosen]))
        made = [waiting for waiting in chosen if made_again(waiting, self.corpus, self.session)]
        self.session.waiting = [waiting for waiting in self.session.waiting if waiting not in chosen or waiting in made]
        looked = [(waiting, waiting.bucket) for waiting in made if waiting.bucket is not None]
        fresh = [waiting for waiting in made if waiting.bucket is None]
        for waiting, bucket in chain(looked, self.look.into(fresh, {**self.flows}, left)):
            here = (waiting.flow, waiting.suspect.case)
            is_kept = self.keep(waiting, bucket)
            rest = [other for other in self.session.waiting if (other.flow, other.suspect.case) != here]
            self.session.waiting = rest if is_kept else [*rest, replace(waiting, bucket=bucket)]
            self._keep_state()

    def keep(self, waiting: Waiting, bucket: Bucket) -> bool:
        """Counted where its cause is there already, in the place of one that it proves, or as a new one. False where it would be a cause
        and the time was over before every known defect that it may be was screened: nothing is reported of it then."""
        self.session.processor_s = self.used_s()
        if not self._refer(waiting.flow, bucket) and bucket.status in CAUSES:
            return False
        bucket = self._compared(replace(bucket, at=self.session.processor_s))
        self.session.looked.setdefault(signature(waiting.flow, waiting.suspect), []).append(bucket.key)
        before = self.session.buckets.get(bucket.key)
        if before is not None and not confirms(bucket, before):
            self._counted(bucket.key)
            return True
        if before is not None:
            bucket = replace(bucket, count=before.count, found_at=before.found_at, at=before.at)
        self.session.buckets[bucket.key] = bucket
        if before is not None:
            self._counted(bucket.key)
        name = f"{waiting.suspect.case.generator} on {waiting.flow}"
        if bucket.known:
            self.tell(f"known: {bucket.title} (case {bucket.first}): {bucket.known}")
            return True
        if bucket.status in CAUSES and name in self.session.arms:
            self.session.arms[name] = paid(self.session.arms[name])
        self.new.append(bucket)
        self.tell(f"{bucket.status}: {bucket.title} (case {bucket.first})")
        return True

    def _compared(self, bucket: Bucket) -> Bucket:
        """One that is there already, where it is the same cause, and itself in its place where it proves that one; else itself, not decided
        where nobody can say."""
        own = self.session.buckets.get(bucket.key)
        bucket = bucket if is_believed(bucket, self.session) else replace(bucket, known="")
        if bucket.known or not is_compared(bucket) or (own is not None and is_cause(own)):
            return bucket
        others = self.session.buckets.values()
        came, other = nearest(bucket, others)
        if came is not Relation.SAME:
            bucket = with_swaps(bucket, others, self.flows[bucket.flow], self.corpus, self.services)
            came, other = nearest(bucket, others)
        if other is None:
            lucky = right_by_luck(bucket, self.corpus, self.session)
            return replace(bucket, status="undecided", like=f"{bucket.backend}: {lucky}") if lucky else bucket
        if came is Relation.SAME and confirms(bucket, other) and not may_be_a_cause(bucket, others):
            return replace(bucket, key=other.key)
        if came is Relation.SAME:
            return other
        return replace(bucket, status="undecided", like=other.title)

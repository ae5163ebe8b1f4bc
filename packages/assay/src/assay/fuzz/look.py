"""One look into a suspect: the whole check with its witnesses, then triage, then a bucket."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Inputs
from assay.core.data import Data
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.result_parts import ComparedResult
from assay.core.screening import Suspect, Unspecified, Use, is_of_use
from assay.errors import AssayError
from assay.fuzz.corpus import Bucket, Corpus, Session, Waiting
from assay.fuzz.crash_experiments import try_crash
from assay.fuzz.cures import cures, cures_of
from assay.fuzz.deciding_fact import fact_of
from assay.fuzz.known import with_parts
from assay.fuzz.nearest import may_be_a_cause, nearest
from assay.fuzz.own_process import can_be_read
from assay.fuzz.same_cause import Relation
from assay.fuzz.screening import Rescreen
from assay.fuzz.suspect_pattern import ENDED
from assay.fuzz.suspect_signature import bucket_key, signature
from assay.judge.witnesses import Side, side_of
from assay.pipeline.adapters import Services
from assay.pipeline.check import check
from assay.pipeline.request import ModelRequest, Request
from assay.triage.cause import Cause
from assay.triage.triage import RedVerdict, triage_verdict
from assay.triage.triage_text import title_of, workaround

TRIAGE_S = 45.0
LIMIT_S = 60.0
_SIDES = {Side.REFERENCE: "wrong", Side.ENGINE: "disputed", Side.NOBODY: "one_witness", Side.UNASKED: "one_witness"}
_SIDES[Side.READING] = "unspecified"
_OUTCOMES = {
    Outcome.CRASH: "crash",
    Outcome.TIMEOUT: "timeout",
    Outcome.ERROR: "failed",
    Outcome.UNSUPPORTED: "failed",
    Outcome.NONDETERMINISTIC: "unstable",
}
NOT_JUDGED = frozenset((Outcome.MISTRUSTED, Outcome.INFRASTRUCTURE, Outcome.UNAVAILABLE, Outcome.OUT_OF_MEMORY))
"""Of a check that came to no verdict: no tolerance could be derived, say, or the machine failed."""
UNREADABLE = "the process that reads it ends, without a backend: native code of onnx does not outlive this case"
UNCHECKED = {"failed": "failed", **{use.value: "in_use" for use in Use}}
"""The status of suspects that are not checked again."""
BY_ORDER = frozenset((Unspecified.REPEATED_INDICES, Unspecified.EQUAL_KEYS))
"""Reasons for which one engine may answer differently each time, as its threads meet: two answers are else memory that is not its own."""
SEARCHED = ("wrong", "one_witness", "crash", "unstable")


class Look:
    """What is asked goes through the history of the services, as any check does."""

    def __init__(self, corpus: Corpus, services: Services, tell: Callable[[str], None]) -> None:
        self._corpus, self._services, self._tell = corpus, services, tell
        self._again = Rescreen(corpus, services)

    def into(
        self, chosen: Sequence[Waiting], flows: Mapping[str, Flow], left: float
    ) -> Iterator[tuple[Waiting, Bucket]]:
        """A bucket for each, in their order; none for those that no look was begun into once the time was over. One that was begun is
        whole: what was not compared by every experiment would be reported as new."""
        deadline = time.monotonic() + left
        for waiting in chosen:
            if waiting.suspect.kind in UNCHECKED:
                yield waiting, self.unchecked(waiting, flows[waiting.flow])
        known = [waiting for waiting in chosen if waiting.suspect.kind not in UNCHECKED]
        if not known:
            return
        requests = tuple(
            ModelRequest(
                path=self._path(waiting, ".onnx"),
                flows=(flows[waiting.flow],),
                name=str(waiting.suspect.case),
                inputs=Inputs(data=Data(source=str(self._path(waiting, ".npz")), expected=False)),
            )
            for waiting in known
        )
        request = Request(models=requests, measuring=None, limits=Limits(timeout_s=LIMIT_S), command="assay fuzz")
        try:
            checked = check(request, self._services)
        except AssayError as error:
            for waiting in known:
                yield waiting, self.bucket(waiting, flows[waiting.flow], "not_judged", None, detail=str(error))
            return
        jobs = {job.case.name: job for job in checked.run.jobs if isinstance(job, VerifyJob)}
        results = {checked_result.case: checked_result for checked_result in checked.results}
        for waiting in known:
            if time.monotonic() >= deadline:
                return
            name = str(waiting.suspect.case)
            yield self._looked_into(waiting, jobs[name], results[name], flows[waiting.flow])

    def _looked_into(self, waiting: Waiting, job: VerifyJob, result: Result, flow: Flow) -> tuple[Waiting, Bucket]:
        if waiting.suspect.kind in ENDED and not can_be_read(self._path(waiting, "")):
            return waiting, self.bucket(self._named(waiting), flow, "not_judged", None, detail=UNREADABLE)
        used = self._path(waiting, ".uses").exists()
        cause = None
        if waiting.suspect.kind in ENDED and result.outcome is Outcome.MISMATCH:
            waiting = self._as_it_answers(waiting, flow)
        status = status_of(waiting, result, used=used)
        if status == "in_use":
            status, waiting = self._again_in_use(waiting, flow)
        elif status in SEARCHED:
            cause = self._cause(job, result)
        if status in SEARCHED:
            waiting = self._with_experiments(waiting, flow)
        return waiting, self.bucket(self._named(waiting), flow, status, cause, result)

    def asked_before(self, waiting: Waiting, flow: Flow, session: Session) -> Bucket | None:
        """That of a cause which what makes this one right makes right, too: nothing has to be asked. Another type is, where no witness
        could answer in those of that one, and this one, where that may be another cause and this may not."""
        mine, others = self.bucket(waiting, flow, "", None), session.buckets.values()
        came, other = nearest(mine, others)
        if other is None or came is not Relation.SAME or not cures(mine):
            return None
        is_new = other.status == "undecided" and not (other.known or may_be_a_cause(mine, others))
        return None if is_new or (other.status == "one_witness" and other.dtypes != mine.dtypes) else other

    def unchecked(self, waiting: Waiting, flow: Flow) -> Bucket:
        """Of one that was compiled and does not run, whose words say all that a check would, and of one that the screen saw wrong in use,
        twice: a check asks an engine in one way only."""
        silent = waiting.suspect.unspecified and waiting.suspect.kind != "failed"
        return self.bucket(waiting, flow, "unspecified" if silent else UNCHECKED[waiting.suspect.kind], None)

    def _path(self, waiting: Waiting, ending: str) -> Path:
        return self._corpus.suspects(waiting.flow).absolute() / f"{waiting.suspect.case}{ending}"

    def _again_in_use(self, waiting: Waiting, flow: Flow) -> tuple[str, Waiting]:
        """What ended its worker in use, alone: one node at one size where that is enough, which is a crash as any other, else by what is
        done with the engine."""
        smaller = self._again.smallest(self._path(waiting, ""), flow)
        if not smaller:
            return "not_repeated", waiting
        if self._again.node_that_ends(self._path(waiting, ""), flow):
            return "timeout" if waiting.suspect.kind == Outcome.TIMEOUT.value else "crash", waiting
        ablated = self._again.with_plain_model(self._path(waiting, ""), flow)
        return "in_use", replace(waiting, suspect=replace(waiting.suspect, detail=smaller, ablated=ablated))

    def _as_it_answers(self, waiting: Waiting, flow: Flow) -> Waiting:
        """What ended its worker and answers alone, wrongly, as the screen sees that answer: an earlier case may have ended the worker."""
        suspect = self._again.as_it_answers(self._path(waiting, ""), flow)
        return waiting if suspect is None else replace(waiting, suspect=replace(suspect, case=waiting.suspect.case))

    def _with_experiments(self, waiting: Waiting, flow: Flow) -> Waiting:
        """What ended its worker, cut down to the node that does so alone where one does, and what was tried of that."""
        place, suspect = self._path(waiting, ""), waiting.suspect
        if suspect.kind != Outcome.CRASH.value or not self._again.node_or_whole(place, flow):
            return waiting
        ablated = try_crash(place, flow, suspect.signal, self._corpus.folder, self._services)
        return replace(waiting, suspect=replace(suspect, ablated=ablated))

    def _named(self, waiting: Waiting) -> Waiting:
        return replace(waiting, suspect=with_parts(waiting.suspect, self._path(waiting, ".onnx")))

    def _cause(self, job: VerifyJob, result: Result) -> Cause | None:
        folder = self._corpus.folder.absolute() / "causes" / job.case.name / job.flow.name.replace("/", "-")
        try:
            causes = triage_verdict(
                RedVerdict(job, result), self._services, folder, time.monotonic() + TRIAGE_S, lambda text: None
            )
        except AssayError as error:
            self._tell(f"triage of {job.case.name} ended: {error}")
            return None
        return next((cause for cause in causes if cause.nodes), None)

    def bucket(
        self,
        waiting: Waiting,
        flow: Flow,
        status: str,
        cause: Cause | None,
        result: Result | None = None,
        detail: str = "",
    ) -> Bucket:
        """What this suspect alone comes to, before it is compared with others."""
        suspect = waiting.suspect
        if cause is not None and _ends_alone(suspect, cause) and not _is_of(cause, suspect):
            cause = None
        operators = cause.operators if cause is not None and not _ends_alone(suspect, cause) else _operators(suspect)
        attributes = _attributes(suspect, operators)
        brought = tuple(name for cure in cause.cures[:1] for name in cure.names) if cause is not None else ()
        kind = _kind(suspect, cause)
        fact = fact_of(kind, suspect.ablated)
        signal = suspect.signal or (result.signal if result is not None else "")
        bucket_detail = detail or suspect.detail or (result.detail if result is not None else "")
        return Bucket(
            key=bucket_key(
                flow.backend, kind, operators, (*attributes, *_decided_by(kind, suspect, signal)), brought, status
            )
            if kind != "failed"
            else bucket_key(flow.backend, signature(flow.name, suspect), (), (), (), status),
            flow=flow.name,
            backend=flow.backend,
            kind=kind,
            status=status,
            operators=operators,
            attributes=attributes,
            stated=suspect.attributes,
            brought=brought,
            unspecified=suspect.unspecified,
            first=str(suspect.case),
            generator=suspect.case.generator,
            smallest=cause.folder if cause is not None else str(self._path(waiting, ".onnx")),
            title=_title(flow, suspect, cause, operators, attributes) + (f" (any operator on {fact})" if fact else ""),
            workaround=workaround(cause) if cause is not None else "",
            script=cause.script if cause is not None else "",
            folder=cause.folder if cause is not None else "",
            dtypes=suspect.dtypes,
            versions=result.versions if result is not None else {},
            found_at=datetime.now(UTC).isoformat(timespec="seconds"),
            detail=bucket_detail[:800],
            known=cause.known_as if cause is not None else "",
            ablated=suspect.ablated,
            signal=signal if kind == Outcome.CRASH.value else "",
        )


def _kind(suspect: Suspect, cause: Cause | None) -> str:
    """Of an operator that ended its worker that, though it may give a wrong answer another time: it reads what is not its own."""
    return suspect.kind if cause is None or _ends_alone(suspect, cause) else cause.symptom.kind


def _ends_alone(suspect: Suspect, cause: Cause) -> bool:
    """Whether what is left of the case, which ends its worker, is not smaller in what triage came to: it had less time."""
    mine = {*_operators(suspect)}
    return suspect.kind in ENDED and bool(mine) and not {*cause.operators} < mine


def _is_of(cause: Cause, suspect: Suspect) -> bool:
    """Whether triage came to the same failure of these operators: else its script and what it knows are of another."""
    return cause.symptom.kind.partition(" ")[0] == suspect.kind and {*_operators(suspect)} <= {*cause.operators}


def _decided_by(kind: str, suspect: Suspect, signal: str) -> tuple[str, ...]:
    """What tells crashes of one operator apart: the signal, and what their process outlives. Whether they are one cause nevertheless is
    asked of the experiments."""
    return (signal, *sorted(cures_of(suspect.ablated))) if kind == Outcome.CRASH.value else ()


def _operators(suspect: Suspect) -> tuple[str, ...]:
    """None of one whose use alone is the cause."""
    return () if is_of_use(suspect.ablated) else tuple(name.partition("@")[0] for name in suspect.operators)


def _attributes(suspect: Suspect, operators: Sequence[str]) -> tuple[str, ...]:
    """What tells causes apart: of one operator the attributes that matter, of a use alone its name, of a pattern its nodes."""
    if is_of_use(suspect.ablated):
        return (suspect.detail if suspect.kind in ENDED else suspect.kind,)
    names = {*operators} if len(operators) == 1 else set[str]()
    return tuple(name for name in suspect.attributes if name.partition(".")[0] in names)


def _title(
    flow: Flow, suspect: Suspect, cause: Cause | None, operators: tuple[str, ...], attributes: Sequence[str]
) -> str:
    if cause is not None and operators == cause.operators:
        return title_of(cause)
    return f"{flow.backend}: {_named(suspect, operators, attributes)}"


def _named(suspect: Suspect, operators: Sequence[str], attributes: Sequence[str]) -> str:
    """Operators and the kind of failure, with the use that alone is the cause."""
    if is_of_use(suspect.ablated):
        return ", ".join(("any operator", *dict.fromkeys((suspect.kind, *attributes))))
    return f"{'+'.join(operators)}, {suspect.kind}"


def status_of(waiting: Waiting, result: Result, *, used: bool = False) -> str:
    """What the whole check makes of a suspect. `used`: the screen did more with its engine than a check does, so that what ended its
    worker and does not repeat came of that."""
    silent = {*waiting.suspect.unspecified}
    if waiting.suspect.kind == "shape":  # the text says of it what values do not follow from
        silent -= {Unspecified.DILATED_SAME, Unspecified.NO_STEPS}
    if (silent and result.outcome is Outcome.MISMATCH) or (
        silent & BY_ORDER and result.outcome is Outcome.NONDETERMINISTIC
    ):
        return "unspecified"
    if waiting.suspect.kind in ENDED and result.outcome is Outcome.UNSUPPORTED:
        return "refused"  # in a process of its own, and it ends none
    if result.outcome in _OUTCOMES and not result.only_after_other_jobs:  # whose memory that was, nobody knows
        return _OUTCOMES[result.outcome]
    if waiting.suspect.kind == "shape" and result.outcome is Outcome.MISMATCH:
        return "wrong"  # onnx's inference of shapes, which the case declares, is the second witness
    if result.outcome is Outcome.MISMATCH and isinstance(result, ComparedResult):
        return _SIDES[side_of(result)[0]]
    if used and waiting.suspect.kind in ENDED:
        return "in_use"
    return "not_judged" if result.outcome in NOT_JUDGED else "not_repeated"

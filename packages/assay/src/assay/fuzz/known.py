"""Defects that are known, screened as suspects are once a suspect may be one of them, so that the two can be compared by experiment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.result import Result, ScreenResult
from assay.core.screening import FILLED, UNTIED, CaseId, Suspect, Use, is_of_use
from assay.fuzz.corpus import Bucket, Corpus, Session
from assay.fuzz.deciding_fact import ends_as
from assay.fuzz.operator_forms import are_kin
from assay.fuzz.same_cause import Relation, relation
from assay.fuzz.screening import KEPT, KEPT_VERSION, reached, screen_kept
from assay.fuzz.shared_word import words
from assay.fuzz.suspect_pattern import pattern
from assay.fuzz.unjudged import UNJUDGED, recorded
from assay.pipeline.adapters import Services
from assay.triage.findings import PLACE, findings

INDEX = "known.json"
REFER_S, LONGEST_S, SLICE_S = 120.0, 600.0, 60.0
"""Of processor time, and by the clock where others have the cores: what is not screened by then is not compared with."""


class KnownCase(msgspec.Struct, frozen=True):
    """`name` is that of its files, `finding` the script that shows it, `operators` those of its model; `is_empty`: an input has no
    elements; `has_ties`: two numbers of an input are equal."""

    name: str
    finding: str
    operators: tuple[str, ...] = ()
    is_empty: bool = False
    attributes: tuple[str, ...] = ()
    has_ties: bool = False


def may_be_of(case: KnownCase, subject: Suspect | Bucket) -> bool:
    """Whether the experiments could find that they are one cause: an operator of both, or two that are made alike, or one that ends the
    process in its place, or the same word of an attribute; whatever the operators where the use of the engine alone may be it, and where
    both have inputs of no elements and nothing is wrong with elements. What triage names is compared with all cases of that name."""
    if (
        subject.kind in {*Use}
        or is_of_use(subject.ablated)
        or (isinstance(subject, Bucket) and subject.known == case.finding)
    ):
        return True
    if case.is_empty and subject.ablated.get(FILLED):
        return True
    if (case.has_ties and subject.ablated.get(UNTIED)) or words(subject.attributes) & words(case.attributes):
        return True
    mine, theirs = pattern(subject.operators), pattern(case.operators)
    if subject.kind == Outcome.CRASH.value:
        mine = (*mine, *ends_as(subject))
    return any(a == b or are_kin(a, b) for a in mine for b in theirs)


class Referred(NamedTuple):
    """How many known defects were found, and whether every one that was wanted has been screened by now."""

    found: int
    is_whole: bool


def refer(
    flow: Flow,
    wanted: Callable[[KnownCase], bool],
    corpus: Corpus,
    session: Session,
    services: Services,
    seconds: float = LONGEST_S,
) -> Referred:
    """A bucket for each wanted defect that is there in this flow, counted once it is met. Each case is screened once in a session; what
    there was no time for, in so many seconds, is asked for again."""
    every = _known_cases(corpus)
    before = session.referred.get(flow.name, {})
    cases = [known_case for known_case in every if known_case.name not in before and wanted(known_case)]
    if not cases:
        return Referred(0, is_whole=True)
    folder = corpus.known.absolute() / flow.name.replace("/", "-")
    screened = _screened([corpus.known.absolute() / case.name for case in cases], flow, folder, services, seconds)
    for suspect in screened.suspects:
        bucket = _bucket(suspect, cases[suspect.case.index], flow)
        session.buckets[bucket.key] = bucket
    if screened.any_begun:  # else the next one asks again
        asked = before | {case.name: place in screened.right for place, case in enumerate(cases[: screened.done])}
        session.referred[flow.name] = asked
        wrong_or_open = {known_case.finding for known_case in every if not asked.get(known_case.name)}
        session.absent[flow.name] = sorted({known_case.finding for known_case in every} - wrong_or_open)
    unjudged = _unjudged(screened, cases, flow)
    session.buckets |= {bucket.key: bucket for bucket in unjudged}
    is_whole = screened.any_begun and screened.done >= len(cases)
    return Referred(len(screened.suspects) + len(unjudged), is_whole)


def _known_cases(corpus: Corpus) -> list[KnownCase]:
    index = corpus.known / INDEX
    return msgspec.json.decode(index.read_bytes(), type=list[KnownCase]) if index.exists() else []


def right_by_luck(bucket: Bucket, corpus: Corpus, session: Session) -> str:
    """Of one that contradicts itself the known case of the same operators, and of nothing where that is of nothing, that was right when it
    was screened: memory that was never written may hold the right numbers. "": there is none."""
    if bucket.status != "unstable":
        return ""
    asked, of_nothing = session.referred.get(bucket.flow, {}), bool(bucket.ablated.get(FILLED))
    mine = pattern(bucket.operators)
    right = (case for case in _known_cases(corpus) if asked.get(case.name) and case.is_empty == of_nothing)
    return next((case.name for case in right if pattern(case.operators) == mine), "")


def _unjudged(screened: _Screened, cases: Sequence[KnownCase], flow: Flow) -> list[Bucket]:
    """Of each defect of this backend whose case is neither right nor wrong here: refused, say, in this form, while a like one runs. What
    has the same operators and fails as it is recorded to may be it."""
    judged = screened.right | {suspect.case.index for suspect in screened.suspects}
    places = [place for place in range(min(screened.done, len(cases))) if place not in judged]
    return [_not_run(place, cases[place], flow) for place in places if cases[place].name.startswith(f"{flow.backend}-")]


def _not_run(place: int, case: KnownCase, flow: Flow) -> Bucket:
    how = recorded(case.finding, case.operators)
    name = CaseId(KEPT, KEPT_VERSION, 0, place)
    suspect = Suspect(name, UNJUDGED, operators=case.operators, detail=how, signal=how.partition(" ")[2])
    return _bucket(suspect, case, flow)


@dataclass
class _Screened:
    """`right` are places in the list of cases, `done` the first that is left; `any_begun`: the backend could start."""

    suspects: list[Suspect] = field(default_factory=list)
    right: set[int] = field(default_factory=set)
    done: int = 0
    any_begun: bool = False

    def add(self, result: Result) -> None:
        if isinstance(result, ScreenResult):
            self.suspects += result.suspects
            self.right |= {*result.right}


def _screened(places: Sequence[Path], flow: Flow, folder: Path, services: Services, seconds: float) -> _Screened:
    """The cases one after the other, past those that end their worker, until the time is over."""
    screened, end, used_s = _Screened(), time.monotonic() + min(LONGEST_S, seconds), 0.0
    while (first := screened.done) < len(places) and (left := end - time.monotonic()) > 0 and used_s < REFER_S:
        result = screen_kept(places, first, flow, folder, services, min(SLICE_S, left))
        if isinstance(result, ScreenResult) and result.outcome is Outcome.OK:
            screened.add(result)
            screened.any_begun, used_s = True, used_s + result.cpu_s
            screened.done = result.done if result.done > first else len(places)
            continue
        under_way = reached(folder / "progress")
        if under_way is None:  # the worker ended before any case
            screened.done += 1
            continue
        ended = min(max(first, under_way), len(places) - 1)
        screened.any_begun = True
        if ended > first:  # what came before it was lost with it
            screened.add(screen_kept(places[:ended], first, flow, folder, services))
        if result.outcome in (Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY):
            case = CaseId(KEPT, KEPT_VERSION, 0, ended)
            screened.suspects.append(_ended(case, result, places[ended]))
        screened.done = ended + 1
    return screened


def is_believed(bucket: Bucket, session: Session) -> bool:
    """Whether what triage took for a finding, by its operators, may be that one: not where a case of the finding with the same operators is
    wrong by another cause, nor in a release that it was not seen in and in which all its cases are right."""
    if not bucket.known.startswith(PLACE):
        return True
    seen = {known.seen for known in findings() if PLACE + known.file == bucket.known}
    if bucket.known in session.absent.get(bucket.flow, ()) and seen.isdisjoint(bucket.versions.values()):
        return False
    cases = [other for other in session.buckets.values() if other.known == bucket.known and not other.generator]
    cases = [case for case in cases if case.kind != UNJUDGED]  # that one says neither
    alike = [other for other in cases if pattern(other.operators) == pattern(bucket.operators)]
    return not alike or any(relation(bucket, other) is not Relation.DIFFERENT for other in alike)


def _bucket(suspect: Suspect, case: KnownCase, flow: Flow) -> Bucket:
    return Bucket(
        key=value_digest((flow.name, "known", case.name, suspect.kind))[:16],
        flow=flow.name,
        backend=flow.backend,
        kind=suspect.kind,
        status="wrong",
        operators=suspect.operators,
        attributes=suspect.attributes,
        stated=suspect.attributes,
        count=0,
        first=case.name,
        title=f"{flow.backend}: {case.name}",
        dtypes=suspect.dtypes,
        known=case.finding,
        detail=suspect.detail,
        signal=suspect.signal,
        ablated=suspect.ablated,
    )


def _ended(case: CaseId, result: Result, place: Path) -> Suspect:
    suspect = Suspect(case, result.outcome.value, detail=result.signal, signal=result.signal)
    return with_parts(suspect, place.with_name(f"{place.name}.onnx"))


def with_parts(suspect: Suspect, model: Path) -> Suspect:
    """With the operators, attributes and types of its model: of a case that ended its worker nobody has told them, and they part
    causes. An attribute without which it ends as well does not matter."""
    from assay.generators.case_values import attributes_of
    from assay.generators.files import operators_of, types_of

    if suspect.operators:
        return suspect
    needless = {name for name, right in suspect.ablated.items() if not right}
    stated = tuple(name for name in attributes_of(model) if name.partition("=")[0] not in needless)
    return replace(suspect, operators=operators_of(model), attributes=stated, dtypes=types_of(model))

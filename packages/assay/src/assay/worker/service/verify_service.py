"""The verdict on a service: what it answers, in every way of asking, against the oracle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.comparison import Comparison
from assay.core.empty_result import empty_result
from assay.core.finding import Finding, WorstElement
from assay.core.job import VerifyJob
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.result import VerifyResult
from assay.models.goldens import Golden
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.ports.prompts import ContinuesPrompts, DecodesPrompts
from assay.worker.engine.lower import Lowered
from assay.worker.inputs.load_inputs import reference_of
from assay.worker.service.asking import alone, generated, repeated, together
from assay.worker.service.draw_distribution import draw_rules
from assay.worker.service.oracle import Oracle, oracle_of
from assay.worker.service.places import JudgedPlace, Place, blind, budget, difference, judge_all
from assay.worker.service.recorded_service import RecordedService, empty_answers, recorded, short_answers
from assay.worker.service.rules import chat_rules, seed_rules, text_rules, token_rules
from assay.worker.stages import Stages


def verify_service(
    job: VerifyJob,
    lowered: Lowered,
    engine: ContinuesPrompts,
    golden: Golden,
    judging: ToleranceComparator,
    stages: Stages,
) -> VerifyResult:
    """Raises as the service fails; UsageError where the inputs of the case are no prompts."""
    oracle = oracle_of(job, golden, judging)
    blank = msgspec.structs.replace(
        empty_result(job, Outcome.OK), facts=lowered.facts(engine), reference=reference_of(job)
    )
    if not oracle.noise.size:
        return msgspec.structs.replace(blank, unproven=noted(NoteCode.NO_LOGITS_TOLERANCE))
    with stages.enter(Stage.RUN):
        service = recorded(engine.service)
        places, findings, metrics = _asked(engine, service, oracle)
    with stages.enter(Stage.COMPARE):
        judged_places = judge_all(places, oracle)
        apart = difference(judged_places)
        notes = (*_notes(judged_places, oracle, engine), *_not_judged(judged_places, metrics, engine))
    return msgspec.structs.replace(
        blank,
        comparisons=(_comparison(judged_places, judging),) if judged_places else (),
        findings=(*((apart,) if apart is not None else ()), *findings),
        unproven=empty_answers(service.records) or (None if judged_places else noted(NoteCode.TOKENS_UNKNOWN)),
        task_metrics=_metrics(judged_places) | metrics,
        notes=notes,
    )


def _asked(
    engine: ContinuesPrompts, service: RecordedService, oracle: Oracle
) -> tuple[list[Place], list[Finding], dict[str, float]]:
    tokenizer = engine.tokenizer
    places = alone(service, oracle)
    more, texts = generated(service, oracle)
    places += more + together(service, oracle)
    draws = int(engine.settings["draws"])
    local = isinstance(service, DecodesPrompts)
    findings = [] if local else [*text_rules(service, tokenizer, texts)]
    findings += seed_rules(service, oracle) if draws or not local else ()
    if tokenizer is not None:
        new_findings, asked = token_rules(service, oracle, tokenizer)
        findings, places = findings + new_findings, places + asked
        if engine.settings["chat_template"]:
            new_findings, asked = chat_rules(engine, service, oracle)
            findings, places = findings + new_findings, places + asked
    drawn, metrics = draw_rules(service, oracle, draws)
    places += repeated(service.records, oracle)
    return places, _distinct(findings + drawn + short_answers(service.records)), metrics


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    """The first of each rule."""
    first: dict[object, Finding] = {}
    for finding in findings:
        first.setdefault(finding.facts["rule"], finding)
    return [*first.values()]


def _comparison(places: Sequence[JudgedPlace], judging: ToleranceComparator) -> Comparison:
    worst = sorted(places, key=lambda place: place.used, reverse=True)[:3]
    elements = [
        WorstElement(
            (judged_place.place.prompt, len(judged_place.place.beginning), judged_place.token),
            judged_place.expected,
            judged_place.actual,
        )
        for judged_place in worst
    ]
    apart = [abs(place.actual - place.expected) for place in places if place.errors]
    apart = [distance if math.isfinite(distance) else math.inf for distance in apart]
    learnt = judging.profile is not None and bool(judging.profile.header.learnt)
    return Comparison(
        output="logits",
        dtype=judging.contract.precision,
        shape=(len(places),),
        samples=len({place.place.prompt for place in places}),
        elements=max(2, sum(len(place.errors) for place in places)),
        metrics={"budget_used": budget(places), "max_abs": max(apart, default=0.0)},
        worst=tuple(elements),
        tolerance="learnt" if learnt else "derived",
    )


def _metrics(places: Sequence[JudgedPlace]) -> dict[str, float]:
    """Means hide a fault of one prompt: the worst place and the worst prompt stand beside them."""
    if not places:
        return {}
    by_prompt: dict[int, list[float]] = {}
    for place in places:
        by_prompt.setdefault(place.place.prompt, []).append(place.divergence)
    sizes = [place.divergence for place in places]
    return {
        "kl_mean": math.fsum(sizes) / len(sizes),
        "kl_max": max(sizes),
        "kl_worst_prompt": max(math.fsum(some) / len(some) for some in by_prompt.values()),
        "places": float(len(places)),
        "places_with_log_probabilities": float(sum(bool(place.errors) for place in places)),
    }


def _notes(places: Sequence[JudgedPlace], oracle: Oracle, engine: ContinuesPrompts) -> tuple[Note, ...]:
    notes = []
    if places and not any(place.errors for place in places):
        notes.append(noted(NoteCode.NO_LOG_PROBABILITIES))
    if ways := blind(places, oracle):
        notes.append(noted(NoteCode.OTHER_PROMPTS_PASS, ways=tuple(ways)))
    if isinstance(engine.service, DecodesPrompts):
        return tuple(notes)  # it is given numbers: nobody expects text of it
    if engine.tokenizer is None:
        notes.append(noted(NoteCode.NO_TOKENIZER))
    elif not engine.settings["chat_template"]:
        notes.append(noted(NoteCode.NO_CHAT_TEMPLATE))
    return tuple(notes)


def _not_judged(places: Sequence[JudgedPlace], metrics: Mapping[str, float], engine: ContinuesPrompts) -> list[Note]:
    """What was asked, or might have been, and shows nothing."""
    notes = []
    if not int(engine.settings["draws"]):
        notes.append(noted(NoteCode.NO_DRAWS))
    elif "draw_power" not in metrics:
        notes.append(noted(NoteCode.DRAWS_NOT_JUDGED))
    asked = {
        "alone": True,
        "generated": True,
        "text": engine.tokenizer is not None,
        "chat": engine.tokenizer is not None and bool(engine.settings["chat_template"]),
    }
    ways = {place.place.way for place in places}
    if none := [way for way, was in asked.items() if was and way not in ways]:
        notes.append(noted(NoteCode.WAYS_NOT_JUDGED, ways=tuple(none)))
    return notes

"""Does the engine answer the same when it is asked the same? It is asked again: many times, in other orders, built once more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.core.comparison import Comparison
from assay.core.finding import Finding
from assay.core.job import VerifyJob
from assay.core.outcome import Stage
from assay.core.repeats import Instability, Pattern, Repeats
from assay.models.goldens import Golden
from assay.worker.engine.lower import Lowered, load
from assay.worker.stages import Stages
from assay.worker.verify.batch_mates import with_other_mates
from assay.worker.verify.call_log import Answer, CallLog
from assay.worker.verify.call_pattern import bad_calls, odd_calls, pattern_of
from assay.worker.verify.one_batch import as_one_batch, takes_batches, without_pictures
from assay.worker.verify.reference_comparison import Compare
from assay.worker.verify.repeat_schedule import EVIDENCE_S, allowed_s, is_enough, schedule
from assay.worker.verify.replay import named_by_replay
from assay.worker.verify.same_bytes import same_bytes
from assay.worker.verify.second_build import Build, build_again


@dataclass(frozen=True)
class Repetition:
    """What is asked again: the job and its engine, by which tolerance answers are compared, and with which reference (None: nobody
    has answers). `plain` compares other inputs than those of the case; `first` are the comparisons of the first answers."""

    job: VerifyJob
    lowered: Lowered
    log: CallLog
    golden: Golden
    stages: Stages
    compare: Compare
    plain: Compare
    has_reference: bool
    first: Sequence[Comparison] = ()


def repeated(repetition: Repetition) -> Repeats:
    """Raises as the engine does. What is within tolerance is recorded, too."""
    log, stages = repetition.log, repetition.stages
    share = repetition.job.limits.repeat_share
    allowed = allowed_s(share, sum(time.seconds for time in stages.times))
    with stages.enter(Stage.RUN):
        _ask_again(repetition, allowed)
        other = build_again(repetition.job, stages, log, allowed, backend=repetition.lowered.backend) if share else None
        if log.last_s <= allowed:
            log.ask(0)  # as late as can be: an answer may change with time
        log.look_at_answers()
        # At the very end: an engine may refuse the batch, and answer falsely after that.
        mates, beside_others = _beside_others(repetition, allowed)
    with stages.enter(Stage.COMPARE):
        instabilities = [*log.breaches, *_between_calls(repetition)]
    if not any(
        is_beyond(instability, repetition.first) for instability in instabilities
    ):  # only of an engine that is steady by itself
        instabilities += beside_others
        instabilities += _between_builds(repetition, other) if other is not None else ()
    stages.reached = Stage.COMPARE  # a verdict on the answers speaks of where they were judged
    again = log.repeats
    seconds = again[-1].seconds - log.calls[0].seconds
    return Repeats(
        len(again),
        seconds,
        share,
        int(other is not None),
        mates,
        tuple(instabilities),
    )


def _ask_again(repetition: Repetition, allowed: float) -> None:
    """At least one call."""
    log = repetition.log
    lock, begin = repetition.golden.lock, log.clock()
    order = schedule(len(log.firsts), lock.sequences, repetition.job.case.inputs.seed)
    for calls, (sample, offset) in enumerate(order, 1):
        log.ask(sample, offset)
        if log.farthest:
            allowed = max(allowed, EVIDENCE_S)
        if is_enough(calls + 1) or log.clock() - begin > allowed:
            return


def _between_calls(repetition: Repetition) -> list[Instability]:
    """What differs from call to call."""
    log = repetition.log
    if not log.farthest:
        return []
    instability = _compared(repetition, log.farthest)
    again, bad = log.repeats, bad_calls(log.calls)
    pattern, moment = Pattern.UNNAMED, bad[0]
    if is_beyond(instability, repetition.first):
        with repetition.stages.enter(Stage.RUN):
            pattern = pattern_of(log.calls) or Pattern.EVERY_CALL
            if pattern is Pattern.RARE:
                bad = odd_calls(log.calls)
            moment = bad[0]
            pattern = named_by_replay(
                pattern, log, bad, lambda: load(repetition.lowered, repetition.job, Stages(lambda stage: None))
            )
    return [
        msgspec.structs.replace(
            instability,
            pattern=pattern,
            sample=moment.sample,
            differing=len(bad) if pattern is not Pattern.UNNAMED else sum(call.answer != 0 for call in again),
            calls=len(again),
            call=moment.number,
            seconds=moment.seconds,
        )
    ]


def _compared(repetition: Repetition, others: dict[int, Answer]) -> Instability:
    """Other answers to some samples beside the first ones; and beside the reference, where nothing but tolerance decides whether the
    first ones are right by it."""
    log, golden = repetition.log, repetition.golden
    firsts = [log.firsts[sample] for sample in range(len(log.firsts))]
    answers = [others.get(sample, first) for sample, first in enumerate(firsts)]
    apart, findings = repetition.compare(answers, firsts)
    against: tuple[Comparison, ...] = ()
    if repetition.has_reference and all(
        finding.kind == "values" for finding in _all(*repetition.compare(firsts, golden.outputs))
    ):
        against, _ = repetition.compare(answers, golden.outputs)
    name = next((finding.output for finding in _all(apart, findings)), "") or _changed(answers, firsts)
    kept = tuple(finding for finding in findings if finding.output not in {instability.output for instability in apart})
    return Instability(
        Pattern.UNNAMED,
        name,
        apart=tuple(map(without_pictures, apart)),
        findings=kept,
        against_reference=tuple(map(without_pictures, against)),
    )


def is_beyond(instability: Instability, first: Sequence[Comparison]) -> bool:
    """By the tolerance at hand; `first` are the comparisons of the first answers."""
    wrong = any(unstable.findings for unstable in first)
    return bool(
        _all(instability.apart, instability.findings) or (not wrong and _all(instability.against_reference, ()))
    )


def _all(comparisons: Sequence[Comparison], findings: Sequence[Finding]) -> list[Finding]:
    return [*findings, *(finding for comparison in comparisons for finding in comparison.findings)]


def _changed(answers: Sequence[Answer], firsts: Sequence[Answer]) -> str:
    pairs = (
        (name, other.get(name), array)
        for other, first in zip(answers, firsts, strict=True)
        for name, array in first.items()
    )
    return next((name for name, other, array in pairs if not same_bytes(other, array)), "")


def _beside_others(repetition: Repetition, allowed: float) -> tuple[int, Sequence[Instability]]:
    """How many samples were asked for beside other rows: 0 where they are no batches of several, and cannot be put into one."""
    if repetition.log.last_s > allowed or repetition.job.case.contract.published:
        return 0, ()
    job, log, rewritten, golden = repetition.job, repetition.log, repetition.lowered.rewritten, repetition.golden
    ways = takes_batches(job, repetition.lowered.backend, golden) if repetition.has_reference else []
    if not ways:
        beside = with_other_mates(job, log, rewritten, golden, repetition.plain)
        return (0, ()) if beside is None else (1, beside)
    most = 0
    for way in ways:
        if len(way.rows) * log.last_s > allowed:
            continue
        beside = as_one_batch(job, log, rewritten, golden, repetition.compare, way)
        if beside is None:  # an engine that has refused a batch may answer falsely afterwards
            break
        most = max(way.rows) + 1
        if beside:
            return most, beside
    return most, ()


def _between_builds(repetition: Repetition, other: Build) -> list[Instability]:
    """What another engine of the same model answers otherwise; where that is wrong, whether threads or the build are why."""
    if not other.answers:
        return []
    with repetition.stages.enter(Stage.COMPARE):
        instability = _compared(repetition, other.answers)
    if not is_beyond(instability, repetition.first):
        return []
    pattern, threads = Pattern.SECOND_BUILD, 0
    if other.threads:
        with repetition.stages.enter(Stage.RUN):
            third = _same_again(repetition)
        if third is None or not third.answers or not is_beyond(_compared(repetition, third.answers), repetition.first):
            pattern, threads = Pattern.THREADS, other.threads
    return [msgspec.structs.replace(instability, pattern=pattern, threads=threads, sample=min(other.answers))]


def _same_again(repetition: Repetition) -> Build | None:
    """Built as it was the first time, however long that takes."""
    return build_again(
        repetition.job,
        repetition.stages,
        repetition.log,
        math.inf,
        backend=repetition.lowered.backend,
        with_other_threads=False,
    )

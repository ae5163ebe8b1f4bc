"""Does the engine give the probabilities that a golden keeps a sketch of, in every schedule and on its own cache?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from assay.core.comparison import Comparison
from assay.core.dtype import UNIT_ROUNDOFF, dtype_name
from assay.core.empty_result import empty_result
from assay.core.finding import Finding, FindingCode, facts
from assay.core.golden import WHOLE
from assay.core.job import VerifyJob
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.result import VerifyResult
from assay.core.schedules import NAMES, PADDED
from assay.errors import UsageError
from assay.models.goldens import Golden
from assay.models.model_precision import model_precision
from assay.models.own_data.prompts.short_goldens import SketchedGolden, read_sketches
from assay.models.own_data.prompts.signature import IDS, LOGITS
from assay.numerics.structure import check_structure
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.ports import Engine, Tensor
from assay.ports.prompts import ContinuesPrompts
from assay.task_metrics.language import log_probabilities, schedule_figures
from assay.worker.engine.lower import Lowered, delegation
from assay.worker.engine.precision_audit import find_lower_precision, minor_deviations
from assay.worker.engine.sequences import Samples, ask_calls
from assay.worker.inputs.load_inputs import Source, feed, reference_of
from assay.worker.stages import Stages
from assay.worker.verify.call_inputs import Feeds
from assay.worker.verify.call_log import CallLog
from assay.worker.verify.contract_comparison import compare_outputs, contract_of, types_due
from assay.worker.verify.repeated_calls import Repetition, repeated

_NORM, _ELEMENT = 4.0, 4.0
"""Times the noise of a correct flow, as `assay.numerics.tolerance.judge` allows it."""
_OTHERS = 32
"""Places whose answers are held against the sketch of another, as a control."""


@dataclass(frozen=True)
class _Place:
    """`beginning` is the number of the tokens up to it. `least` and `most` bound the divergence from the golden, in nats; `allowed` is
    that of a correct flow."""

    call: int
    schedule: str
    beginning: int
    least: float
    most: float
    allowed: float
    agrees: bool

    @property
    def used(self) -> float:
        """Of what is allowed of an error, whose square the divergence is."""
        if math.isnan(self.allowed) and math.isfinite(self.least):
            return 0.0
        return math.sqrt(self.least / self.allowed) if self.allowed > 0.0 else math.inf if self.least else 0.0


def verify_sketched(job: VerifyJob, lowered: Lowered, engine: Engine, stages: Stages) -> VerifyResult:
    """By the divergence at each place: at least so much, and at most. Raises UsageError for what takes whole answers."""
    _check_request(job, engine)
    golden = read_sketches(Path(job.case.inputs.golden), job.case.model.digest)
    source, fed = feed(golden, job.case.model)
    with stages.enter(Stage.RUN):
        log, request = _asked(job, lowered, engine, source, golden)
    facts_of_engine, answers = lowered.facts(engine), request.outputs
    undelegated = delegation(facts_of_engine)
    result = msgspec.structs.replace(
        empty_result(job, Outcome.UNDELEGATED if undelegated else Outcome.OK),
        ended=undelegated,
        facts=facts_of_engine,
        reference=reference_of(job),
        notes=minor_deviations(job.flow.precision, facts_of_engine),
    )
    coarser = find_lower_precision(
        job.flow.precision, facts_of_engine, lambda: model_precision(lowered.given_model(job))
    )
    with stages.enter(Stage.COMPARE):
        odd = _structure(job, lowered, request, golden.lock.vocabulary)
        if any(finding.output == LOGITS for finding in odd):
            return msgspec.structs.replace(result, findings=(*odd, *coarser))
        logs = log_probabilities(answers, LOGITS)
        ratio = _ratio(job.flow.precision)
        places = [*_places(golden, fed.labels, logs, ratio)]
        mean = _mean_used(places, golden, ratio)
        result = msgspec.structs.replace(
            result,
            comparisons=(_comparison(places, mean, answers),),
            findings=(*odd, *_findings(golden, places, mean), *coarser),
            unproven=_unproven(golden, places, logs, fed.labels["prefix"]),
            task_metrics=_metrics(places) | schedule_figures(answers, fed.labels),
        )
    plain = partial(compare_outputs, job, lowered.rewritten, ToleranceComparator(contract_of(job), by_default=True))
    log.interrupted()
    repeats = repeated(Repetition(job, lowered, log, request, stages, plain, plain, False, result.comparisons))
    return msgspec.structs.replace(result, repeats=repeats)


def _check_request(job: VerifyJob, engine: Engine) -> None:
    """Raises UsageError."""
    golden = job.case.inputs.golden
    if isinstance(engine, ContinuesPrompts):
        raise UsageError(noted(NoteCode.SKETCHES_OF_SERVICE, flow=job.flow.name, golden=golden))
    specs = {
        "original": job.case.original is not None,
        "--save-inputs": job.save_inputs,
        "--save-outputs": job.save_outputs,
    }
    for option in (name for name, is_given in specs.items() if is_given):
        raise UsageError(noted(NoteCode.SKETCHES_ARE_NO_ANSWERS, golden=golden, option=option))


def _asked(
    job: VerifyJob, lowered: Lowered, engine: Engine, source: Source, golden: SketchedGolden
) -> tuple[CallLog, Golden]:
    """Each call with the cache that it was fed and the answer to it, as a golden of the engine's own."""
    fed: Samples = []
    log = CallLog(engine, Feeds(lowered.rewritten, fed, job.case.inputs.layout))

    def ask(call: dict[str, Tensor]) -> dict[str, Tensor]:
        fed.append(call)
        return log.ask(len(fed) - 1)

    inputs, answers = ask_calls(ask, source, job.case.model)
    log.look_at_answers()
    lock = msgspec.structs.replace(
        golden.lock, samples=len(inputs), state=source.state, sequences=source.sequences, form=WHOLE
    )
    return log, Golden(lock, inputs, answers, source.labels)


def _structure(job: VerifyJob, lowered: Lowered, request: Golden, vocabulary: int) -> tuple[Finding, ...]:
    """Names and types of all outputs, as the model declares them, and the shape of the logits."""
    names = [output.name for output in job.case.model.outputs]
    due = []
    for answer, call in zip(request.outputs, request.inputs, strict=True):
        shaped = {LOGITS: np.broadcast_to(np.float32(0.0), (*call[IDS].shape, vocabulary))}
        due.append({name: shaped.get(name, answer.get(name, np.zeros(0))) for name in names})
    return check_structure(request.outputs, due, names, types_due(job, lowered.rewritten, names, request.outputs))


def _ratio(precision: str) -> float:
    """By how much its rounding is coarser than that of float32; not a number for a grid, of which nothing is known."""
    return UNIT_ROUNDOFF.get(precision, math.nan) / UNIT_ROUNDOFF["float32"]


def _places(
    golden: SketchedGolden, labels: dict[str, Tensor], logs: Sequence[Tensor], ratio: float
) -> Iterator[_Place]:
    """Of a correct flow no log-probability is off by more than `_ELEMENT * sqrt(2 ln n)` times its noise, of n in all; the divergence is
    then at most half the mean square of that, and a little more where it is large."""
    sketcher = golden.sketcher
    known = {}
    count = int((labels["prefix"] != PADDED).sum()) * golden.lock.vocabulary
    limit = _ELEMENT * math.sqrt(2 * math.log(max(2, count)))
    for call, answer in enumerate(logs):
        for row, column in np.argwhere(labels["prefix"][call] != PADDED):
            beginning = int(labels["prefix"][call][row, column])
            sketch, given = golden.sketches[beginning], answer[row, column]
            key = beginning, given.tobytes()
            if key not in known:
                known[key] = sketcher.divergence(sketch, given)
            size = limit * ratio * math.sqrt(golden.noise[beginning])
            allowed = size**2 / 2 * math.exp(min(size, 700.0))
            agrees = int(sketch.ids[0]) == int(given.argmax())
            name = NAMES[int(labels["schedule"][call])]
            yield _Place(call, name, beginning, max(0.0, known[key][0]), known[key][1], allowed, agrees)


def _mean_used(places: Sequence[_Place], golden: SketchedGolden, ratio: float) -> float:
    """Of what the errors of all places together may be."""
    least = math.fsum(place.least for place in places)
    noise = ratio**2 * math.fsum(golden.noise[place.beginning] for place in places)
    return math.sqrt(2 * least / noise) / _NORM if noise > 0.0 else math.nan


def _findings(golden: SketchedGolden, places: Sequence[_Place], mean: float) -> tuple[Finding, ...]:
    beyond = [place for place in places if place.used > 1.0]
    if not (beyond or mean > 1.0):
        return ()
    simplest = min((NAMES.index(place.schedule) for place in beyond), default=None)  # it says most
    worst = max(
        (place for place in places if simplest in (None, NAMES.index(place.schedule))), key=lambda place: place.used
    )
    numbers = facts(
        schedule=worst.schedule,
        call=worst.call,
        length=golden.lengths[worst.beginning],
        least=worst.least,
        allowed=worst.allowed,
        mean=mean,
    )
    return (Finding("values", LOGITS, FindingCode.SKETCH, numbers),)


def _unproven(golden: SketchedGolden, places: Sequence[_Place], logs: Sequence[Tensor], prefix: Tensor) -> Note | None:
    """Why these answers are not proved to be right."""
    if any(math.isnan(place.allowed) for place in places):
        return noted(NoteCode.NO_LOGITS_TOLERANCE)
    worst = max(places, key=lambda place: place.most / place.allowed if place.allowed else math.inf)
    if worst.most > worst.allowed:
        return noted(NoteCode.SKETCH_OPEN, least=worst.least, most=worst.most, allowed=worst.allowed)
    return noted(NoteCode.OTHER_PROMPTS_PASS, ways=("alone",)) if _blind(golden, places, logs, prefix) else None


def _blind(golden: SketchedGolden, places: Sequence[_Place], logs: Sequence[Tensor], prefix: Tensor) -> bool:
    """Whether the answers of places would pass as those of others."""
    allowed = {place.beginning: place.allowed for place in places}
    firsts = {
        int(prefix[call][0, column]): answer[0, column]
        for call, answer in enumerate(logs)
        for column in range(answer.shape[1])
        if prefix[call][0, column] != PADDED
    }
    numbers = [*firsts][:_OTHERS]
    pairs = zip(numbers, numbers[1:] + numbers[:1], strict=True)
    sketcher = golden.sketcher
    return all(sketcher.divergence(golden.sketches[pair], firsts[other])[0] <= allowed[pair] for pair, other in pairs)


def _comparison(places: Sequence[_Place], mean: float, answers: Samples) -> Comparison:
    used = max(max(place.used for place in places), mean)
    shape = np.shape(answers[0][LOGITS])
    return Comparison(
        output=LOGITS,
        dtype=dtype_name(answers[0][LOGITS].dtype),
        shape=shape,
        samples=len(answers),
        elements=sum(answer[LOGITS].size for answer in answers),
        metrics={"budget_used": used},
        tolerance="derived",
    )


def _metrics(places: Sequence[_Place]) -> dict[str, float]:
    """The divergence as it is at most: a goal that holds, holds. Beside it what it is at least."""
    count = len(places)
    return {
        "kl_mean": math.fsum(place.most for place in places) / count,
        "kl_max": max(place.most for place in places),
        "kl_mean_least": math.fsum(place.least for place in places) / count,
        "kl_max_least": max(place.least for place in places),
        "next_token_agreement": sum(place.agrees for place in places) / count,
    }

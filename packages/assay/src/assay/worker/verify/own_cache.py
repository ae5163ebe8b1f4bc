"""Schedules of a changed model on its own cache: what is compared call by call is fed the cache of the model that it was made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from assay.core.finding import Finding
from assay.core.job import VerifyJob
from assay.core.note import Note, NoteCode, noted
from assay.core.schedules import NAMES
from assay.errors import Lowering
from assay.models.goldens import Golden
from assay.models.own_data.state import without_fed
from assay.ports import Engine
from assay.task_metrics.language import schedule_figures
from assay.worker.describe_exception import reason_of
from assay.worker.engine.sequences import run_calls
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.load_inputs import Source
from assay.worker.inputs.original import golden_of_original
from assay.worker.reference.reference_evaluation import ORACLES, QUANTIZED, ask
from assay.worker.verify.reference_comparison import Samples
from assay.worker.verify.schedules import is_scheduled, schedules_disagree

_STEPS = NAMES.index("steps")


@dataclass(frozen=True)
class OwnSchedules:
    """`disagree`: the model contradicts itself. `unasked` says why that is not known. `figures` are how far the engine is from itself, by
    how a prompt is fed; None where those of the compared calls are the same."""

    disagree: tuple[Finding, ...]
    unasked: Note | None = None
    figures: dict[str, float] | None = None


def own_schedules(
    job: VerifyJob, engine: Engine, rewritten: TransformedModel, golden: Golden, actual: Samples
) -> OwnSchedules:
    """Whether the model contradicts itself on its own cache. Where the calls carry another model's cache, the model and the engine are
    asked again, each on the cache that it gives itself."""
    if not is_scheduled(golden) or (job.case.original is None and rewritten.standard is None):
        return OwnSchedules(schedules_disagree(golden, actual))
    try:
        calls = _own_calls(job, golden)
        if not calls.state:  # no cache is handed on
            return OwnSchedules(schedules_disagree(golden, actual))
        model, oracles = Path(job.case.model.source), ORACLES
        judged = TransformedModel(model)
        if rewritten.standard is not None:
            model, oracles, judged = rewritten.standard, QUANTIZED, rewritten
        signature = job.case.model
        expected = ask(model, lambda evaluator: run_calls(evaluator, judged, calls, signature)[1], oracles=oracles)
        answers = run_calls(engine, rewritten, calls, signature)[1]
    except Lowering as error:
        return OwnSchedules((), noted(NoteCode.OWN_CACHE_NOT_ASKED, error=reason_of(error)), {})
    disagree = schedules_disagree(replace(golden, outputs=expected), answers)
    return OwnSchedules(disagree, figures=schedule_figures(answers, golden.labels))


def _own_calls(job: VerifyJob, golden: Golden) -> Source:
    """The calls without the caches that they carry, but for the first ones. Raises Lowering where a cache has no counterpart."""
    lock, original = golden.lock, job.case.original
    if original is not None:
        old = golden_of_original(job, original).lock
        outputs, inputs = (
            {theirs: mine for mine, theirs in names.items()} for names in (original.outputs, original.inputs)
        )
        lost = sorted({*old.state} - {*outputs} | {*old.state.values()} - {*inputs})
        if lost:
            raise Lowering(noted(NoteCode.CACHE_LOST, name=lost[0]))
        state = {outputs[output]: inputs[name] for output, name in old.state.items()}
        lock = msgspec.structs.replace(lock, state=state, sequences=old.sequences)
    if sum(lock.sequences) != len(golden.inputs) and (lock.state or _STEPS in golden.labels["schedule"]):
        raise Lowering(noted(NoteCode.CALLS_NOT_ORDERED))
    return Source(without_fed(golden.inputs, lock), golden.labels, lock.state, lock.sequences)

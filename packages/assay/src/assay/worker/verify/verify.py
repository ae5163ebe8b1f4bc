"""Does the engine give the reference's answers?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from assay.core.comparison import Comparison
from assay.core.dtype import CONTAINERS
from assay.core.empty_result import empty_result
from assay.core.engine_info import EngineInfo
from assay.core.evidence import blocking
from assay.core.finding import Finding, kept_from_scoring
from assay.core.golden import SKETCH
from assay.core.job import VerifyJob
from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.reference import Reference
from assay.core.repeats import Repeats
from assay.core.result import UntakenBranch, VerifyResult
from assay.models.golden_checks import fits, format_shape
from assay.models.goldens import Golden
from assay.models.load_tolerance import load_tolerance
from assay.models.model_precision import model_precision
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.drawn_comparison import drawn_parts
from assay.plugins import library_of
from assay.ports import Engine
from assay.ports.prompts import ContinuesPrompts
from assay.task_metrics.language import SCHEDULE_FIGURE
from assay.task_metrics.registry import is_against_labels
from assay.task_metrics.scoring import score
from assay.worker.engine.calibration import evaluation_split
from assay.worker.engine.handover import leave
from assay.worker.engine.lower import Lowered, delegation, load, lower
from assay.worker.engine.precision_audit import find_lower_precision, minor_deviations
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.input_facts import input_facts
from assay.worker.inputs.load_inputs import has_source, load_golden, reference_of
from assay.worker.inputs.original import compare_with_original, golden_of_original, reference_of_original
from assay.worker.inputs.random_outputs import random_outputs, with_constants
from assay.worker.service.verify_service import verify_service
from assay.worker.stages import Stages
from assay.worker.verify.answers import Answered, answered
from assay.worker.verify.contract_comparison import choose_comparator, compare_outputs, contract_of
from assay.worker.verify.function_equivalence import compare_with_function_body
from assay.worker.verify.guarded_inputs import check_guards
from assay.worker.verify.input_sensitivity import check_sensitivity
from assay.worker.verify.numeric_defaults import tried
from assay.worker.verify.output_statistics import with_statistics
from assay.worker.verify.overflow_underflow import excuse_overflow
from assay.worker.verify.own_cache import own_schedules
from assay.worker.verify.reference_comparison import Compare, Samples, compare_at_shapes, compare_to_reference
from assay.worker.verify.repeated_calls import Repetition, is_beyond, repeated
from assay.worker.verify.saving import save
from assay.worker.verify.schedules import is_scheduled
from assay.worker.verify.sketched import verify_sketched
from assay.worker.verify.wrong_use import run_error_case


def verify(job: VerifyJob, stages: Stages) -> VerifyResult:
    """lower -> save -> load -> run -> compare -> run again, to see whether the answers repeat."""
    if job.case.misuse is not None:
        return run_error_case(job, job.case.misuse, stages)
    if job.case.body is not None:
        return compare_with_function_body(job, job.case.body, stages)
    golden = evaluation_split(job, load_golden(job))
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    stages.inputs = input_facts(job.case.model, golden)
    if golden.lock.form == SKETCH:
        return verify_sketched(job, lowered, engine, stages)
    if isinstance(engine, ContinuesPrompts):
        return verify_service(job, lowered, engine, golden, load_tolerance(job, contract_of(job)), stages)
    with stages.enter(Stage.RUN):
        ran = answered(job, engine, lowered.rewritten, golden)
    if job.no_reference_reason:
        return _unanswered(job, lowered, ran, stages)
    seen = _seen(job, lowered, engine, ran, stages)
    facts = _with_cures(job, lowered.facts(engine), seen.findings, ran, lowered.rewritten, seen.judging)
    if job.save_inputs or job.save_outputs:
        with stages.enter(Stage.SAVE):
            save(job, ran.golden, ran.actual, facts.backend_version)
        stages.reached = Stage.COMPARE  # a verdict on the answers speaks of where they were judged
    coarser = find_lower_precision(job.flow.precision, facts, lambda: model_precision(lowered.given_model(job)))
    own = own_schedules(job, engine, lowered.rewritten, ran.golden, ran.actual)
    findings = seen.findings + ran.unlike + coarser + own.disagree
    seen = replace(seen, findings=findings, unproven=seen.unproven or own.unasked)
    if seen.is_open:
        leave(job, lowered.folder, lowered.rewritten, stages.built, lowered.notes, lowered.warned)
    return _on_its_own_cache(_recorded(job, lowered.rewritten, ran, facts, seen, stages), own.figures)


def _on_its_own_cache(result: VerifyResult, figures: dict[str, float] | None) -> VerifyResult:
    """Figures of schedules speak of the engine alone: on another model's cache they would tell how far the two models are."""
    if figures is None or not result.task_metrics:
        return result
    others = {name: metric for name, metric in result.task_metrics.items() if not name.startswith(SCHEDULE_FIGURE)}
    return msgspec.structs.replace(result, task_metrics=others | figures)


@dataclass(frozen=True)
class _Seen:
    """What comparing the answers found. `unproven` is why there is nothing to compare them with."""

    comparisons: tuple[Comparison, ...]
    findings: tuple[Finding, ...]
    against_float: tuple[Comparison, ...]
    unproven: Note | None
    repeats: Repeats
    judging: ToleranceComparator

    @property
    def is_open(self) -> bool:
        """Whether another tolerance could have more to say: such a job may be asked once more."""
        any_finding = self.findings or any(comparison.findings for comparison in self.comparisons)
        return bool(
            any_finding
            or self.unproven
            or blocking(self.comparisons)
            or any(is_beyond(instability, self.comparisons) for instability in self.repeats.found)
        )


def _seen(job: VerifyJob, lowered: Lowered, engine: Engine, ran: Answered, stages: Stages) -> _Seen:
    rewritten, golden, actual = lowered.rewritten, ran.golden, ran.actual
    with stages.enter(Stage.COMPARE):
        drawn = random_outputs(job.case.model, golden.inputs)
        usual = ToleranceComparator(contract_of(job), by_default=True, drawn=drawn)
        plain = partial(compare_outputs, job, rewritten, usual)
        judging = replace(choose_comparator(job, rewritten, golden).first(len(actual)), drawn=drawn)
        compare = partial(compare_outputs, job, rewritten, judging)
        held = excuse_overflow(job, actual, golden, rewritten, judging, compare, plain)
    sized = compare_at_shapes(job, lowered.backend, engine, rewritten, stages, plain)
    with stages.enter(Stage.RUN):
        guarded = judging.profile.guarded if judging.profile is not None and not golden.lock.state else ()
        unguarded = check_guards(job, engine, rewritten, guarded, plain)
    with stages.enter(Stage.COMPARE):
        given = with_constants(job.case.model, with_statistics(held.given[0], actual, golden.outputs) + sized.given[0])
        random = drawn_parts(actual[0], drawn)
        repeatable = {name: array for name, array in actual[0].items() if name not in random}
        judged_so_far = _Seen(
            given + check_sensitivity(job, rewritten, ran.probed, repeatable, plain) + unguarded,
            held.given[1] + sized.given[1],
            _against(job, actual, held.against_float),
            held.unproven or sized.unproven,
            Repeats(),
            judging,
        )
    if judged_so_far.is_open and judging.profile is not None and judging.profile.header.coarse:
        return judged_so_far  # by the derived tolerance all is done again
    return replace(
        judged_so_far, repeats=_repeated(job, lowered, ran, stages, judging, plain, judged_so_far.comparisons)
    )


def _repeated(
    job: VerifyJob,
    lowered: Lowered,
    ran: Answered,
    stages: Stages,
    judging: ToleranceComparator,
    plain: Compare,
    first: Sequence[Comparison] = (),
) -> Repeats:
    """By the tolerance of the case; of a quantized model the reference is not evaluated again."""
    ran.log.but = drawn_parts(ran.actual[0], judging.drawn)
    ran.log.interrupted()
    compare = partial(compare_outputs, job, lowered.rewritten, replace(judging, remarks=[]))
    known = lowered.rewritten.standard is None and not job.no_reference_reason
    return repeated(Repetition(job, lowered, ran.log, ran.golden, stages, compare, plain, known, first))


def _recorded(
    job: VerifyJob, rewritten: TransformedModel, ran: Answered, facts: EngineInfo, seen: _Seen, stages: Stages
) -> VerifyResult:
    """How the job ended, before anybody judges its answers."""
    undelegated = delegation(facts)
    outcome = Outcome.UNDELEGATED if undelegated else Outcome.OK
    judging = seen.judging
    small = minor_deviations(job.flow.precision, facts)
    notes = (*ran.notes, *ran.drifted, *judging.notes, *judging.remarks, *small)
    return msgspec.structs.replace(
        _blank(job, outcome, facts),
        ended=undelegated,
        repeats=seen.repeats,
        unproven=seen.unproven,
        comparisons=seen.comparisons,
        against_float=seen.against_float,
        original=job.case.original.model.name if job.case.original is not None else "",
        findings=seen.findings,
        task_metrics={} if kept_from_scoring(seen.findings) else _score(job, ran.actual, ran.golden, stages),
        inputs=input_facts(job.case.model, ran.golden),
        reference=reference_of(job, rewritten.standard),
        float_reference=_float_reference(job) if seen.against_float else Reference(),
        notes=tuple(dict.fromkeys(notes)),
        contradictions=_contradictions(job, ran.golden),
        untaken_branches=_untaken(judging, ran.golden),
    )


def _untaken(judging: ToleranceComparator, golden: Golden) -> tuple[UntakenBranch, ...]:
    """By the evaluations that the tolerance was derived from; where inputs were planned, how many others were tried."""
    untaken_branches = judging.profile.header.untaken if judging.profile is not None else ()
    tried = golden.lock.plan.branch_tries if golden.lock.plan is not None else 0
    return tuple(
        untaken_branch if untaken_branch.by_sizes else msgspec.structs.replace(untaken_branch, tried=tried)
        for untaken_branch in untaken_branches
    )


def _blank(job: VerifyJob, outcome: Outcome, facts: EngineInfo) -> VerifyResult:
    return msgspec.structs.replace(empty_result(job, outcome), facts=facts)


def _with_cures(
    job: VerifyJob,
    facts: EngineInfo,
    findings: Sequence[Finding],
    ran: Answered,
    rewritten: TransformedModel,
    judging: ToleranceComparator,
) -> EngineInfo:
    """Where answers are wrong, whether they are right without what the backend does unasked."""
    coarse = judging.profile is not None and judging.profile.header.coarse
    if not findings or not facts.numeric_defaults or coarse:  # what is wrong by a coarse tolerance is judged once more
        return facts
    silent = partial(compare_outputs, job, rewritten, replace(judging, remarks=[]))
    held_again = partial(compare_to_reference, golden=ran.golden, rewritten=rewritten, compare=silent)
    fed = rewritten.fed(ran.golden.inputs)
    return tried(job, facts, lambda other: not held_again([other.run(sample) for sample in fed]).given[1])


def _against(job: VerifyJob, actual: Samples, lost: tuple[Comparison, ...]) -> tuple[Comparison, ...]:
    """What the user loses: against the original of the case, where it has one, else against the model before its transforms."""
    if job.case.original is None:
        return lost
    return compare_with_original(job, actual, evaluation_split(job, golden_of_original(job, job.case.original)))


def _float_reference(job: VerifyJob) -> Reference:
    """Whose answers a loss is measured by."""
    return reference_of(job) if job.case.original is None else reference_of_original(job, library_of(job.flow))


def _unanswered(job: VerifyJob, lowered: Lowered, ran: Answered, stages: Stages) -> VerifyResult:
    """It takes the model and its inputs, and nobody knows whether the answers are right; labels may tell what they are worth."""
    metrics = _score(job, ran.actual, replace(ran.golden, outputs=ran.actual), stages) if ran.golden.labels else {}
    with stages.enter(Stage.COMPARE):
        drawn = random_outputs(job.case.model, ran.golden.inputs)
    judging = ToleranceComparator(contract_of(job), by_default=True, drawn=drawn)
    plain = partial(compare_outputs, job, lowered.rewritten, judging)
    return msgspec.structs.replace(
        _blank(job, Outcome.OK, lowered.facts(ran.log.engine)),
        unproven=noted(NoteCode.NO_REFERENCE, reason=job.no_reference_reason),
        task_metrics={name: value for name, value in metrics.items() if is_against_labels(name)},
        reference=Reference(engine=library_of(job.flow), own_inputs=has_source(job)),
        repeats=_repeated(job, lowered, ran, stages, judging, plain),
    )


def _score(job: VerifyJob, actual: Samples, golden: Golden, stages: Stages) -> dict[str, float]:
    contract = job.case.contract
    metric = contract.task_metric or ("language" if is_scheduled(golden) else None)
    if metric is None:
        return {}
    known = len(next(iter(golden.labels.values()))) if golden.labels else len(actual)
    with stages.enter(Stage.COMPARE):
        return score(metric, actual[:known], golden.outputs[:known], golden.labels, contract.task_metric_options)


def _contradictions(job: VerifyJob, golden: Golden) -> tuple[ModelFinding, ...]:
    """What the model declares of its outputs where its nodes give something else, by inference or in the samples."""
    model_findings = list(job.case.model.contradictions)
    for spec in job.case.model.outputs:
        about = ModelPart(PartKind.OUTPUT, spec.name)
        shapes = [sample[spec.name].shape for sample in golden.outputs if spec.name in sample]
        odd = next((shape for shape in shapes if spec.shape != ("...",) and not fits(shape, spec.shape)), None)
        if (
            odd is not None
            and spec.dtype not in CONTAINERS
            and about not in {model_finding.about for model_finding in model_findings}
        ):
            values = (format_shape(spec.shape), format_shape(odd))
            model_findings.append(ModelFinding(Area.GRAPH, "declared-shape", about, values, Severity.CONTRADICTION))
    return tuple(model_findings)

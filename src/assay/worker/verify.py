"""Does the engine give the reference's answers?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from assay.core.blank import blank_result
from assay.core.case import Contract
from assay.core.dtype import CONTAINERS, dtype_name, is_floating
from assay.core.evidence import blocking, passed_over
from assay.core.job import Job
from assay.core.result import BuildFacts, Cause, Comparison, Finding, Outcome, Result, Stage
from assay.errors import Lowering, NotRunnable, Unsupported
from assay.models.golden_checks import fits, format_shape
from assay.models.goldens import Golden
from assay.models.judging import judging_of
from assay.models.nested import declared_types
from assay.models.own_types import own_types
from assay.numerics.tolerance.choice import DERIVED
from assay.numerics.tolerance.judging import Judging, judging_of_quantized
from assay.ports import Engine, Tensor
from assay.tasks.registry import score
from assay.worker.bodies import hold_body
from assay.worker.calibration import judged
from assay.worker.forms import as_graph, source_of
from assay.worker.input_facts import input_facts
from assay.worker.layouts import laid
from assay.worker.lower import Lowered, delegation, load, lower
from assay.worker.metrics import with_metrics
from assay.worker.misuse import provoke
from assay.worker.numeric_defaults import tried
from assay.worker.obtained import coarser, finer, little
from assay.worker.original import compare_with_original, golden_of_original
from assay.worker.output_statistics import with_statistics
from assay.worker.ranges import within_ranges
from assay.worker.rewrite import Rewritten
from assay.worker.samples import golden_of, is_unanswered, reference_of
from assay.worker.saving import save
from assay.worker.sequences import run_free
from assay.worker.stages import Stages
from assay.worker.unmoved import probe, unmoved
from assay.worker.yardsticks import Compared, Samples, hold, hold_at_sizes


def verify(job: Job, stages: Stages) -> Result:
    """lower -> save -> load -> run -> compare; the first sample is run twice to see whether the answer repeats."""
    if job.case.misuse is not None:
        return provoke(job, job.case.misuse, stages)
    if job.case.body is not None:
        return hold_body(job, job.case.body, stages)
    golden = judged(job, golden_of(job))
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    rewritten = lowered.rewritten
    plain = partial(_compare, job, rewritten, Judging(contract_of(job)))
    with stages.enter(Stage.RUN):
        fed = [laid(sample, job.case.inputs.layout) for sample in rewritten.fed(golden.inputs)]
        actual, untaken = _answers(engine, fed, golden)
        golden, fed = golden.first(len(actual)), fed[: len(actual)]
        probed = probe(job, engine, rewritten, golden)
        whole = laid(rewritten.fed(golden.inputs[:1])[0], job.case.inputs.layout)
        written = tuple(
            f"the engine writes into its input '{name}'" for name in whole if _differ(fed[0].get(name), whole[name])
        )
        again = engine.run(whole)
        if is_unanswered(job):
            return _unanswered(job, lowered.facts(engine), _first_difference(actual[0], again))
        drifted, unlike = run_free(engine, rewritten, golden, job.case.model)
    with stages.enter(Stage.COMPARE):
        judging = _judging(job, rewritten, golden).first(len(actual))
        compare = partial(_compare, job, rewritten, judging)
        held = within_ranges(job, actual, golden, rewritten, judging, compare, plain)
    sized = hold_at_sizes(job, lowered.backend, engine, rewritten, stages, plain)
    with stages.enter(Stage.COMPARE):
        given = with_statistics(held.given[0], actual, golden.outputs)
        comparisons, findings = given + sized.given[0], held.given[1] + sized.given[1]
        task_metrics = _score(job, actual, golden) if not findings else {}
        repeatable = {name: one for name, one in actual[0].items() if name not in judging.random}
        comparisons += unmoved(job, rewritten, probed, repeatable, plain)
        unrepeated = _first_difference(repeatable, again)
        against = _against(job, actual, held.against_float)
    facts = lowered.facts(engine)
    if findings and facts.numeric_defaults:
        silent = partial(_compare, job, rewritten, replace(judging, told=[]))
        held_again = partial(hold, golden=golden, rewritten=rewritten, compare=silent)
        facts = tried(job, facts, lambda other: not held_again([other.run(one) for one in fed]).given[1])
    with stages.enter(Stage.SAVE) if job.save_inputs or job.save_outputs else nullcontext():
        save(job, golden, actual, facts.backend_version)
    asked = job.flow.precision
    findings += unlike + coarser(asked, facts, lambda: own_types(_lowered_from(job, lowered)))
    unproven = held.unproven or sized.unproven
    outcome, detail = _outcome(
        comparisons,
        findings,
        (Outcome.UNDELEGATED, delegation(facts)),
        (Outcome.NONDETERMINISTIC, unrepeated),
        (Outcome.MISTRUSTED, unproven or _poor(comparisons)),
        (Outcome.OTHER_PRECISION, finer(asked, facts, held.against_float if rewritten.standard else comparisons)),
    )
    return msgspec.structs.replace(
        blank_result(job, outcome),
        cause=Cause.NO_REFERENCE if outcome is Outcome.MISTRUSTED and unproven else Cause.NONE,
        detail=detail,
        comparisons=comparisons,
        against_float=against,
        original=job.case.original.model.name if job.case.original is not None else "",
        findings=findings,
        task_metrics=task_metrics,
        facts=facts,
        inputs=input_facts(job.case.model, golden),
        reference=reference_of(job, rewritten.standard),
        warnings=tuple(
            dict.fromkeys(
                (
                    *untaken,
                    *written,
                    *drifted,
                    *_passed_by(job, comparisons, golden),
                    *judging.notes,
                    *judging.told,
                    *little(asked, facts),
                )
            )
        ),
    )


def _against(job: Job, actual: Samples, lost: tuple[Comparison, ...]) -> tuple[Comparison, ...]:
    """What the user loses: against the original of the case, where it has one, else against the model before its transforms."""
    if job.case.original is None:
        return lost
    return compare_with_original(job, actual, judged(job, golden_of_original(job, job.case.original)))


def _unanswered(job: Job, facts: BuildFacts, unrepeated: str) -> Result:
    """It takes the model and its inputs, and nobody knows whether the answers are right."""
    if unrepeated:
        return msgspec.structs.replace(blank_result(job, Outcome.NONDETERMINISTIC), detail=unrepeated, facts=facts)
    blank = blank_result(job, Outcome.MISTRUSTED)
    return msgspec.structs.replace(blank, detail=job.why, cause=Cause.NO_REFERENCE, facts=facts)


def _lowered_from(job: Job, lowered: Lowered) -> Path:
    """An artifact of an earlier run comes without its model after all transforms: then as quantized, or the case's own."""
    if not lowered.reused:
        return lowered.rewritten.model
    return lowered.rewritten.standard or source_of(job, lowered.backend.accepts)


def _answers(engine: Engine, fed: Samples, golden: Golden) -> tuple[list[dict[str, Tensor]], tuple[str, ...]]:
    """One answer for each sample. Samples of a companion have sizes of their own: an engine built for one size leaves
    them out, and that is told; a sample of the set itself that is refused is the engine's outcome."""
    own = len(next(iter(golden.labels.values()))) if golden.labels else len(fed)
    answers = [_answer(engine, sample) for sample in fed[:own]]
    for sample in fed[own:]:
        try:
            answers.append(_answer(engine, sample))
        except (Unsupported, NotRunnable) as error:
            left = (
                f"{len(fed) - len(answers)} samples of the golden's companion were left out, for this engine: {error}"
            )
            return answers, (left,)
    return answers, ()


def _answer(engine: Engine, sample: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Raises Lowering where a plug-in breaks the promise of `Engine.run`."""
    answer: object = engine.run(sample)
    if not isinstance(answer, dict):
        raise Lowering(f"Engine.run gave {type(answer).__name__}, not a dict of arrays by name: mend the backend")
    for name, array in answer.items():
        if not isinstance(array, np.ndarray | np.generic):
            raise Lowering(
                f"Engine.run gave {type(array).__name__} for output '{name}', not an array: mend the backend"
            )
    return answer


def _compare(job: Job, rewritten: Rewritten, judging: Judging, actual: Samples, expected: Samples) -> Compared:
    names = dict.fromkeys(name for sample in expected for name in sample)
    declared = declared_types(job.case.model.outputs, names) | rewritten.gives
    if "float64" in (job.flow.precision, job.flow.options.get("precision")):
        declared = {name: _in_double(name, dtype, actual) for name, dtype in declared.items()}
    return with_metrics(judging.compare(actual, expected, declared), actual, expected, contract_of(job))


def _in_double(name: str, declared: str, actual: Samples) -> str:
    """A flow that computes in double throughout answers so: its values are compared in double, and not rounded before."""
    given = {dtype_name(sample[name].dtype) for sample in actual if name in sample}
    return "float64" if is_floating(declared) and given == {"float64"} else declared


def _judging(job: Job, rewritten: Rewritten, golden: Golden) -> Judging:
    if rewritten.standard is None:
        return judging_of(job, contract_of(job))
    contract = contract_of(job)
    standard = rewritten.standard
    if contract.tolerance == DERIVED:
        with suppress(Lowering):
            standard = as_graph(standard, job)
    inputs, allowances = rewritten.fed(golden.inputs), tuple(job.flow.allowances)
    return judging_of_quantized(standard, inputs, contract, job.case.inputs.seed, allowances)


def contract_of(job: Job) -> Contract:
    """The case's contract at the precision that the flow promises."""
    return msgspec.structs.replace(job.case.contract, precision=job.flow.precision)


def _score(job: Job, actual: Samples, golden: Golden) -> dict[str, float]:
    contract = job.case.contract
    if contract.task is None:
        return {}
    known = len(next(iter(golden.labels.values()))) if golden.labels else len(actual)
    return score(contract.task, actual[:known], golden.outputs[:known], golden.labels, contract.task_options)


def _first_difference(once: Mapping[str, Tensor], again: Mapping[str, Tensor]) -> str:
    """Which output is the first that two runs on the same inputs do not share bit by bit, "" if all are equal."""
    for name, tensor in once.items():
        if _differ(again.get(name), tensor):
            return _unrepeated(name)
    return ""


def _differ(one: Tensor | None, other: Tensor) -> bool:
    """In any bit, in shape or in type."""
    if one is None or one.shape != other.shape or one.dtype != other.dtype:
        return True
    return not np.array_equal(one, other) if one.dtype == object else one.tobytes() != other.tobytes()


def _unrepeated(name: str) -> str:
    return f"output '{name}' differs between two runs on the same inputs"


def _outcome(
    comparisons: Sequence[Comparison], findings: Sequence[Finding], *otherwise: tuple[Outcome, str]
) -> tuple[Outcome, str]:
    """A mismatch where anything was found, else the first of `otherwise` that has something to say."""
    everything = [*findings, *(finding for one in comparisons for finding in one.findings)]
    if everything:
        more = f" (and {len(everything) - 1} more)" if len(everything) > 1 else ""
        return Outcome.MISMATCH, everything[0].text + more
    return next(((outcome, detail) for outcome, detail in otherwise if detail), (Outcome.OK, ""))


def _passed_by(job: Job, comparisons: Sequence[Comparison], golden: Golden) -> tuple[str, ...]:
    """What the verdict does not rest on: outputs that prove nothing, and what the model declares of its outputs where its nodes
    give something else."""
    found = list(job.case.model.contradictions)
    for spec in job.case.model.outputs:
        shapes = [sample[spec.name].shape for sample in golden.outputs if spec.name in sample]
        odd = next((one for one in shapes if spec.shape != ("...",) and not fits(one, spec.shape)), None)
        if odd is not None and spec.dtype not in CONTAINERS and not any(f"'{spec.name}'" in told for told in found):
            given = f"{format_shape(spec.shape)}, and its nodes give {format_shape(odd)}"
            found.append(f"the model declares output '{spec.name}' as {given}")
    return (*passed_over(comparisons), *(f"{told}: judged as the nodes give it" for told in found))


def _poor(comparisons: Sequence[Comparison]) -> str:
    told = (f"output '{one.output}': {one.degenerate}; such a pass proves nothing" for one in blocking(comparisons))
    return next(told, "")

"""Judge outputs by a profile: statistics for what rounds, bits for what does not, margins for what jumps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from assay.core.finding import Finding, FindingCode, facts
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, OutputNoise
from assay.numerics.tolerance.judge.exact_outputs import judge_bits, judge_choices
from assay.numerics.tolerance.judge.float_outputs import WORST, judge_float
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.ports import Tensor, Tensors


def judge_outputs(
    actual: Sequence[Tensors], expected: Sequence[Tensors] | None, profile: DerivedTolerance, *, worst: int = WORST
) -> dict[str, OutputJudgement]:
    """Every output that both sides have in one shape, one item of each sequence a sample. `expected` None: the oracle's. So many of
    the `worst` elements are told.

    Otherwise `expected` are goldens, whose own distance from the oracle is known and allowed on top, unless it is itself
    beyond the tolerance of float32 (`suspects`): then the golden is taken at its word. Where the profile knows other answers of the
    flow, all outputs together may be those of one of them.
    """
    suspect = suspects(expected, profile) if expected is not None else {}
    judgements = _by_one(actual, expected, profile, suspect, worst)
    if suspect or not profile.others or _used(judgements) <= 1.0:
        return judgements
    answers = [_by_one(actual, None, other, {}, worst) for other in profile.others]
    best = min(answers, key=_used)
    return best if _used(best) <= 1.0 else judgements


def _used(judgements: Mapping[str, OutputJudgement]) -> float:
    return max(
        (output_judgement.metrics.get("budget_used", 0.0) for output_judgement in judgements.values()), default=0.0
    )


def _by_one(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors] | None,
    profile: DerivedTolerance,
    suspect: Collection[str],
    worst: int,
) -> dict[str, OutputJudgement]:
    """By one answer that the flow may give. `suspect` are the outputs of a golden that is not known to be right."""
    judgements = {}
    for noise in profile.header.outputs:
        mine = [sample.get(noise.name) for sample in actual]
        theirs = [sample.get(noise.name) for sample in (expected if expected is not None else profile.oracle)]
        if not _comparable(mine, theirs, profile, noise):
            continue
        offset = expected is not None and noise.name not in suspect
        judgement = _judge(noise, _arrays(mine), _arrays(theirs), profile, known_offset=offset, worst=worst)
        judgements[noise.name] = _if_blind(judgement, profile)
    return judgements


def _if_blind(judged: OutputJudgement, profile: DerivedTolerance) -> OutputJudgement:
    if judged.output not in profile.header.blind or judged.degenerate or judged.near:
        return judged
    tried = tuple(attempt.defect for attempt in profile.header.selftest if judged.output in attempt.missed)
    kinds = tuple(defect.kind.value for defect in tried)
    numbers = facts(
        kinds=kinds, places=tuple(defect.at for defect in tried), sizes=tuple(defect.size for defect in tried)
    )
    blind = Finding("degenerate", judged.output, FindingCode.SELFTEST_BLIND, numbers)
    return replace(judged, degenerate=blind)


def suspects(golden: Sequence[Tensors], profile: DerivedTolerance) -> dict[str, float]:
    """Outputs of a golden that disagree with the float64 evaluation of the model beyond what the type of the flow and the
    golden's own allow, with the budget that each uses; none where it is another answer that the flow may give."""
    suspected = _suspects(golden, profile)
    return {} if suspected and any(not _suspects(golden, other) for other in profile.others) else suspected


def _suspects(golden: Sequence[Tensors], profile: DerivedTolerance) -> dict[str, float]:
    suspected = {}
    for noise in profile.header.outputs:
        theirs = [sample.get(noise.name) for sample in golden]
        ours = [sample.get(noise.name) for sample in profile.oracle]
        if noise.kind in ("none", "random") or not _comparable(theirs, ours, profile, noise):
            continue
        judged = _judge(noise, _arrays(theirs), _arrays(ours), profile, known_offset=False, worst=1)
        if (used := float(judged.metrics.get("budget_used", 0.0))) > 1.0:
            suspected[noise.name] = used
    return suspected


def _arrays(samples: Sequence[Tensor | None]) -> list[Tensor]:
    return [np.asarray(sample) for sample in samples if sample is not None]


def _comparable(
    left: Sequence[Tensor | None], right: Sequence[Tensor | None], profile: DerivedTolerance, noise: OutputNoise
) -> bool:
    if len(left) != len(right) or len(left) != len(profile.oracle) or noise.kind == "none":
        return False
    pairs = zip(left, right, profile.oracle, strict=True)
    return all(
        a is not None
        and b is not None
        and np.shape(a) == np.shape(b) == np.shape(oracle[noise.name])
        and np.asarray(a).dtype.kind not in "OUSc"
        for a, b, oracle in pairs
    )


def _judge(
    noise: OutputNoise,
    actual: list[Tensor],
    expected: list[Tensor],
    profile: DerivedTolerance,
    *,
    known_offset: bool,
    worst: int,
) -> OutputJudgement:
    if noise.kind == "random":
        why = Finding("degenerate", noise.name, FindingCode.RANDOM, facts(margin=noise.margin))
        return OutputJudgement(noise.name, metrics={"budget_used": 0.0}, degenerate=why)
    steps = noise.kind == "interval" and _is_noisy(noise, actual, profile)
    if noise.kind in ("interval", "ranking", "chosen") and not steps:
        return judge_choices(noise, actual, expected, profile)
    if noise.kind == "exact":
        return judge_bits(noise, actual, expected)
    real = judge_float(noise, actual, expected, profile, known_offset=known_offset, worst=worst)
    return _stepping(real, noise, actual, expected, profile) if steps else real


def _is_noisy(noise: OutputNoise, actual: list[Tensor], profile: DerivedTolerance) -> bool:
    """A real output that steps, where noisy evaluations were seen to step."""
    return actual[0].dtype.kind not in "biu" and any(
        sample[noise.name].any() for sample in profile.deviation if noise.name in sample
    )


def _stepping(
    real: OutputJudgement, noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: DerivedTolerance
) -> OutputJudgement:
    """By the statistics of all elements; a single one may take a step that its deciding value could have taken."""
    alone = [name for name, value in real.metrics.items() if name.startswith("budget_") and value > 1.0]
    if set(alone) != {"budget_element", "budget_used"}:
        return real
    steps = judge_choices(noise, actual, expected, profile)
    if steps.findings:
        return real
    used = max(real.metrics["budget_norm"], real.metrics["budget_slice"])
    metrics = {**real.metrics, **steps.metrics, "budget_element": 1.0, "budget_used": max(used, 1.0)}
    return replace(real, metrics=metrics, findings=(), notes=real.notes + steps.notes)

"""Judge outputs by a profile: statistics for what rounds, bits for what does not, margins for what jumps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF, dtype_name
from assay.core.result import Finding, Worst
from assay.numerics.element import extremes
from assay.numerics.tolerance.profile import OutputNoise, Profile
from assay.numerics.tolerance.statistics import ELEMENT_LIMIT, Statistics, locate, statistics
from assay.ports import Tensor, Tensors

SHARE_LIMIT = 0.1
"""Noise above this share of the signal proves nothing."""
_TINY_STATISTIC = 0.01
_TINY = {2.0**-11: 2.0**-25, 2.0**-53: 2.0**-1022}


@dataclass(frozen=True)
class Judged:
    """One output. `metrics` are budget_norm, budget_element, budget_slice, budget_used (their largest: 1 is the limit), and
    noise_share (noise over signal, both in the Euclidean norm); empty where the profile has no tolerance for the output.
    `degenerate` says why a pass proves nothing; `notes` what is odd without being wrong; `worst` the elements that use
    most of their limit; `allowed` the absolute error allowed to a typical element."""

    output: str
    metrics: dict[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    degenerate: str = ""
    notes: tuple[str, ...] = ()
    worst: tuple[Worst, ...] = ()
    allowed: float = 0.0
    statistics: Statistics | None = None


def judge(actual: Sequence[Tensors], expected: Sequence[Tensors] | None, profile: Profile) -> dict[str, Judged]:
    """Every output that both sides have in one shape, one item of each sequence a sample. `expected` None: the oracle's.

    Otherwise `expected` are goldens, whose own distance from the oracle is known and allowed on top, unless it is itself
    beyond the tolerance of float32 (`suspects`): then the golden is taken at its word.
    """
    suspect = suspects(expected, profile) if expected is not None else {}
    found = {}
    for noise in profile.header.outputs:
        mine = [sample.get(noise.name) for sample in actual]
        theirs = [sample.get(noise.name) for sample in (expected if expected is not None else profile.oracle)]
        if not _comparable(mine, theirs, profile, noise):
            continue
        offset = expected is not None and noise.name not in suspect
        one = _judge(noise, _arrays(mine), _arrays(theirs), profile, known_offset=offset)
        found[noise.name] = _if_blind(one, profile)
    return found


def _if_blind(judged: Judged, profile: Profile) -> Judged:
    if judged.output not in profile.header.blind or judged.degenerate:
        return judged
    tried = [one.mutant for one in profile.header.selftest if judged.output in one.missed]
    why = f"the derived tolerance sees none of the defects that it was tried on ({'; '.join(tried)})"
    return replace(judged, degenerate=why)


def suspects(golden: Sequence[Tensors], profile: Profile) -> dict[str, str]:
    """Outputs of a golden that disagree with the float64 evaluation of the model beyond what the type of the flow and the
    golden's own allow, with a sentence each."""
    found = {}
    for noise in profile.header.outputs:
        theirs = [sample.get(noise.name) for sample in golden]
        ours = [sample.get(noise.name) for sample in profile.oracle]
        if noise.kind == "none" or not _comparable(theirs, ours, profile, noise):
            continue
        judged = _judge(noise, _arrays(theirs), _arrays(ours), profile, known_offset=False)
        if judged.metrics.get("budget_used", 0.0) > 1.0:
            found[noise.name] = (
                f"the golden output '{noise.name}' itself disagrees with the float64 evaluation of the model "
                f"(budget used {judged.metrics['budget_used']:.3g}): record it again, or check which model it is of"
            )
    return found


def _arrays(samples: Sequence[Tensor | None]) -> list[Tensor]:
    return [np.asarray(one) for one in samples if one is not None]


def _comparable(
    left: Sequence[Tensor | None], right: Sequence[Tensor | None], profile: Profile, noise: OutputNoise
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
    noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: Profile, *, known_offset: bool
) -> Judged:
    if noise.kind == "interval" and _is_noisy(noise, actual, profile):
        return _stepping(noise, actual, expected, profile, known_offset=known_offset)
    if noise.kind in ("interval", "ranking"):
        return _discrete(noise, actual, expected, profile)
    if noise.kind == "exact":
        return _exact(noise, actual, expected)
    return _real(noise, actual, expected, profile, known_offset=known_offset)


def _is_noisy(noise: OutputNoise, actual: list[Tensor], profile: Profile) -> bool:
    """A real output that steps, where noisy evaluations were seen to step."""
    return actual[0].dtype.kind not in "biu" and any(
        sample[noise.name].any() for sample in profile.deviation if noise.name in sample
    )


def _stepping(
    noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: Profile, *, known_offset: bool
) -> Judged:
    """By the statistics of all elements; a single one may take a step that its deciding value could have taken."""
    real = _real(noise, actual, expected, profile, known_offset=known_offset)
    alone = [name for name, value in real.metrics.items() if name.startswith("budget_") and value > 1.0]
    if set(alone) != {"budget_element", "budget_used"}:
        return real
    steps = _discrete(noise, actual, expected, profile)
    if steps.findings:
        return real
    used = max(real.metrics["budget_norm"], real.metrics["budget_slice"])
    metrics = {**real.metrics, **steps.metrics, "budget_element": 1.0, "budget_used": max(used, 1.0)}
    return replace(real, metrics=metrics, findings=(), notes=real.notes + steps.notes)


def _real(
    noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: Profile, *, known_offset: bool
) -> Judged:
    storage = max(noise.storage, *(UNIT_ROUNDOFF.get(one.dtype.name, 0.0) for one in (*actual, *expected)), 0.0)
    tiny = _TINY.get(storage, 2.0**-126)
    top = extremes(noise.dtype or dtype_name(expected[0].dtype))[1]
    errors, variances, floors, energy = [], [], [], 0.0
    jumps: list[tuple[Tensor, Tensor]] = []
    for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        oracle = np.asarray(profile.oracle[index][noise.name], np.float64)
        deviation = profile.deviation[index][noise.name].astype(np.float64)
        left, right = mine.astype(np.float64), theirs.astype(np.float64)
        counts = np.isfinite(left) & np.isfinite(right) & (np.abs(right) <= top) & np.isfinite(oracle)
        with np.errstate(all="ignore"):
            error = np.where(counts, left - right, 0.0)
            variance = np.where(counts, np.square(deviation), 0.0)
            floor = np.where(counts, storage**2 * np.square(right) / 3 + tiny**2, 0.0)
            if known_offset:
                floor += np.where(counts, np.square(right - oracle), 0.0)
            energy += float(np.sum(np.square(np.where(counts, right, 0.0))))
        errors.append(error)
        variances.append(variance)
        floors.append(floor)
        jumps += _jumps(noise.name, profile, index, counts)
    found = statistics(errors, variances, floors, profile.header.draws, jumps=jumps or None)
    noise_energy = sum(float(np.sum(v) + np.sum(o)) for v, o in zip(variances, floors, strict=True))
    share = math.sqrt(noise_energy / energy) if energy > 0 else 0.0
    return Judged(
        noise.name,
        metrics={**found.budgets, "noise_share": share},
        findings=_over(noise.name, found, actual, expected),
        degenerate=_mistrust(share),
        notes=_odd(noise.name, found, profile),
        worst=tuple(_worst(at, actual, expected) for at in found.worst),
        allowed=ELEMENT_LIMIT * math.sqrt(2 * math.log(2 * max(1, found.elements)) + 2) * found.noise,
        statistics=found,
    )


def _jumps(name: str, profile: Profile, index: int, counts: Tensor) -> list[tuple[Tensor, Tensor]]:
    """How far tipped and shaken evaluations lie apart from the oracle; empty where nothing is rounded to a grid."""
    margins = profile.margins[index] if index < len(profile.margins) else {}
    found = [margins.get(f"{name}/{kind}") for kind in ("tipped", "shaken")]
    tipped, shaken = (np.where(counts, one, 0.0).astype(np.float64) if one is not None else None for one in found)
    return [(tipped, shaken)] if tipped is not None and shaken is not None else []


def _mistrust(share: float) -> str:
    if share <= SHARE_LIMIT:
        return ""
    return (
        f"a correct flow of this precision is off by {100 * share:.3g} % of the signal: the computation is too ill-conditioned "
        "to prove anything at its outputs"
    )


def _odd(name: str, found: Statistics, profile: Profile) -> tuple[str, ...]:
    if not 0.0 <= found.norm < _TINY_STATISTIC or not found.elements or found.noise == 0.0:
        return ()
    if profile.header.arithmetic.storage > 2.0**-20:
        return (
            f"output '{name}' is {1 / max(found.norm, 1e-9):.0f} times closer than {profile.header.precision} can be: "
            f"this {profile.header.precision} flow seems to have computed in float32",
        )
    if found.norm == 0.0 or profile.header.jumps:
        return ()
    return (
        f"output '{name}' uses only {found.norm:.1e} of its derived noise: the flow computes in a finer type than it was asked "
        "for, or a noise rule is too wide here",
    )


def _over(name: str, found: Statistics, actual: list[Tensor], expected: list[Tensor]) -> tuple[Finding, ...]:
    budgets = found.budgets
    if not budgets["budget_used"] > 1.0:
        return ()
    worst = max(("norm", "element", "slice"), key=lambda one: budgets[f"budget_{one}"])
    first = _worst(found.worst[0], actual, expected)
    told = {
        "norm": f"the error is {found.norm:.3g} times the noise of a correct flow (limit 4)",
        "element": f"one element is off by {found.element:.3g} times what noise explains (limit 4)",
        "slice": (
            f"index {found.slice_at[1]} of axis {found.slice_at[0]} (the sample is axis 0) is off by {found.slice:.3g} times "
            "the noise of a correct flow (limit 6)"
        ),
    }[worst]
    text = (
        f"Output {name!r}: {told}; budget used {budgets['budget_used']:.3g}, worst at {list(first.index)}: "
        f"expected {first.expected:.9g}, got {first.actual:.9g}."
    )
    return (Finding("values", name, text),)


def _worst(position: int, actual: list[Tensor], expected: list[Tensor]) -> Worst:
    index = locate(position, [one.shape for one in actual])
    place = index[1:]
    return Worst(index, float(expected[index[0]][place]), float(actual[index[0]][place]))


def _exact(noise: OutputNoise, actual: list[Tensor], expected: list[Tensor]) -> Judged:
    """Nothing rounds on the way to this output: every bit must be there (either zero is zero)."""
    wrong: list[int] = []
    start = 0
    for mine, theirs in zip(actual, expected, strict=True):
        with np.errstate(over="ignore"):
            same = theirs.astype(mine.dtype) if mine.dtype.kind == "f" and theirs.dtype.kind == "f" else theirs
        equal = (mine == same) | ((mine != mine) & (same != same))
        wrong += [start + int(at) for at in np.flatnonzero(~equal)[:10]]
        start += mine.size
    budget = math.inf if wrong else 0.0
    metrics = dict.fromkeys(("budget_norm", "budget_element", "budget_slice", "budget_used"), budget)
    findings: tuple[Finding, ...] = ()
    worst = tuple(_worst(at, actual, expected) for at in wrong[:10])
    if wrong:
        one = worst[0]
        text = (
            f"Output {noise.name!r}: nothing rounds on the way to it, so every bit must agree; at {list(one.index)}: "
            f"expected {one.expected:.9g}, got {one.actual:.9g}."
        )
        findings = (Finding("values", noise.name, text),)
    return Judged(noise.name, metrics=metrics, findings=findings, worst=worst)


def _discrete(noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: Profile) -> Judged:
    wrong: list[int] = []
    ties: list[int] = []
    start = 0
    for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        differs = _differ(mine, theirs, noise)
        if differs.any():
            near = _undecided(noise, mine, theirs, profile.margins[index])
            wrong += [start + int(at) for at in np.flatnonzero(differs & ~near)]
            ties += [start + int(at) for at in np.flatnonzero(differs & near)]
        start += mine.size
    budget = math.inf if wrong else 0.0
    metrics: dict[str, float] = {"budget_used": budget, "ties": float(len(ties))}
    notes: tuple[str, ...] = ()
    if ties:
        at = _worst(ties[0], actual, expected)
        notes = (
            f"output '{noise.name}' has {len(ties)} ties: answers that differ where {noise.margin} is decided by less than "
            f"the noise of a correct flow, first at {list(at.index)}: expected {at.expected:.9g}, got {at.actual:.9g}",
        )
    findings: tuple[Finding, ...] = ()
    worst = tuple(_worst(at, actual, expected) for at in wrong[:10])
    if wrong:
        one = worst[0]
        text = (
            f"Output {noise.name!r}: {len(wrong)} answers differ where noise cannot have decided ({noise.margin}), first at "
            f"{list(one.index)}: expected {one.expected:.9g}, got {one.actual:.9g}."
        )
        findings = (Finding("values", noise.name, text),)
    return Judged(noise.name, metrics=metrics, findings=findings, notes=notes, worst=worst)


def _differ(mine: Tensor, theirs: Tensor, noise: OutputNoise) -> Tensor:
    """Beyond the rounding of the type, for steps that are told as real numbers (dequantized ones)."""
    left, right = _number(mine), _number(theirs)
    differs: Tensor = np.asarray((left != right) & ~((left != left) & (right != right)))
    if mine.dtype.kind in "biu":
        return differs
    with np.errstate(invalid="ignore"):
        return np.asarray(differs & ~(np.abs(left - right) <= _slack(right, noise)))


def _slack(value: Tensor, noise: OutputNoise) -> Tensor:
    """Four roundings of a number of the output's type: the product with a scale, and what was folded into it."""
    slack: Tensor = 4 * noise.storage * np.abs(value)
    return slack


def _number(array: Tensor) -> Any:
    return array if array.dtype.kind in "biu" else array.astype(np.float64)


def _undecided(noise: OutputNoise, mine: Tensor, theirs: Tensor, margins: dict[str, Tensor]) -> Tensor:
    from assay.numerics.tolerance.discrete import undecided_rank

    prefix = f"{noise.name}/"
    own = {key.removeprefix(prefix): value for key, value in margins.items() if key.startswith(prefix)}
    if noise.kind == "ranking":
        return undecided_rank(own, theirs, mine)
    value = mine.astype(np.float64)
    low, high = own["low"], own["high"]
    if mine.dtype.kind not in "biu":
        low, high = low - _slack(low, noise), high + _slack(high, noise)
    return np.asarray((value >= low) & (value <= high))

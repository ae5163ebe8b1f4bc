"""Judge real numbers: an error by three statistics, and what is odd about one that passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF, dtype_name
from assay.core.finding import Finding, FindingCode, facts
from assay.core.note import Note, NoteCode, noted
from assay.numerics.element_types import extremes
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, OutputNoise
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement, worst_at
from assay.numerics.tolerance.judge.rare_jumps import rare_jumps
from assay.numerics.tolerance.judge.statistics import Statistics, statistics
from assay.numerics.tolerance.judge.systematic_error import Side, Systematic, shared, systematic
from assay.ports import Tensor

SHARE_LIMIT = 0.1
"""Noise above this share of the signal proves nothing."""
NEAR = SHARE_LIMIT / 10
NEAR_UNITS = 1000.0
"""An error below this share of the signal, and of so many units of the type, is no defect's, whatever noise would be allowed: where
roundings move the answers by ten times as much, so does a wrong operator. The units keep a noise rule that is too wide from excusing
an error of float32."""
UNSEEN = 6.0
"""Times as much noise as a coarse tolerance shows of it: three where it shows a quarter of the mean square, and as much again."""
WORST = 10
"""Elements that are told, those that use most of their limit."""
_TINY_STATISTIC = 0.01
AS_IN_FLOAT32 = 100.0
"""Times the noise of float32, below which an engine of a coarser type computed everything in float32."""
_TINY = {2.0**-11: 2.0**-25, 2.0**-53: 2.0**-1022}


def judge_float(
    noise: OutputNoise,
    actual: list[Tensor],
    expected: list[Tensor],
    profile: DerivedTolerance,
    *,
    known_offset: bool,
    worst: int = WORST,
) -> OutputJudgement:
    """Of arrays of the oracle's shapes. `known_offset`: `expected` are not the oracle's, and may be as far off as they are."""
    storage = max(noise.storage, *(UNIT_ROUNDOFF.get(array.dtype.name, 0.0) for array in (*actual, *expected)), 0.0)
    tiny = _TINY.get(storage, 2.0**-126)
    top = extremes(noise.dtype or dtype_name(expected[0].dtype))[1]
    samples = [
        _sample(noise, profile, index, (mine, theirs), (storage, tiny, top), known_offset)
        for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True))
    ]
    sides = [sample.side for sample in samples if sample.side is not None]
    judged = _statistics(samples, profile, worst)
    allowed = UNSEEN if profile.header.coarse else 1.0
    telling, left_out = (samples, []) if profile.header.coarse else _telling(samples)
    if left_out:
        judged = max(judged, _statistics(telling, profile, worst), key=lambda each: each.budgets["budget_used"])
    share, near = _share(telling), _distance(samples) <= min(NEAR, NEAR_UNITS * profile.header.arithmetic.storage)
    budgets = judged.budgets
    findings = _over(noise.name, judged, actual, expected)
    if len(sides) == len(samples) and sides:
        leans = systematic(sides, profile.header.draws)
        budgets = {**budgets, "budget_systematic": leans.used, "budget_used": max(budgets["budget_used"], leans.used)}
        if leans.used > 1.0 and not findings:
            findings = (_leaning(noise.name, leans),)
    if fixed := _moved_though_fixed(noise, actual, expected, profile):
        budgets, findings = {**budgets, "budget_element": math.inf, "budget_used": math.inf}, (fixed,)
    mistrust = None if near else _mistrust(noise.name, share * allowed)
    if profile.header.arithmetic.weight_levels and budgets["budget_norm"] <= 1.0 < budgets["budget_used"]:
        parts = [sample.error for sample in samples], [sample.variance for sample in samples], expected
        if chance := rare_jumps(noise.name, *parts, profile.header.draws):
            budgets, findings, mistrust = {**budgets, "budget_used": 1.0}, (), chance
    return OutputJudgement(
        noise.name,
        metrics={**budgets, "noise_share": share},
        findings=findings,
        degenerate=mistrust,
        notes=(*_odd(noise.name, judged, profile, telling), *_set_aside(noise.name, left_out, samples)),
        worst=tuple(worst_at(at, actual, expected) for at in judged.worst),
        allowed=judged.allowed,
        statistics=judged,
        near=near,
    )


def _statistics(samples: Sequence[_Sample], profile: DerivedTolerance, worst: int) -> Statistics:
    return statistics(
        [sample.error for sample in samples],
        [sample.variance for sample in samples],
        [sample.floor for sample in samples],
        profile.header.draws,
        worst,
        jumps=[pair for sample in samples for pair in sample.jumps] or None,
        smooth=not profile.header.arithmetic.weight_levels,
    )


def _moved_though_fixed(
    noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: DerivedTolerance
) -> Finding | None:
    """Of an output of exact numbers that only jumps could change: one that no evaluation shows to jump, and is another."""
    if noise.storage > 0.0 or not profile.margins:
        return None
    start, wrong = 0, []
    for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        oracle, still = profile.oracle[index][noise.name], profile.deviation[index][noise.name] == 0.0
        for kind in ("tipped", "shaken", "up", "down"):
            still = still & (profile.margins[index].get(f"{noise.name}/{kind}", 0.0) == 0.0)
        still = still & (theirs == oracle.astype(theirs.dtype))
        wrong += [start + int(at) for at in np.flatnonzero(still & (mine != theirs))]
        start += mine.size
    if not wrong:
        return None
    first = worst_at(wrong[0], actual, expected)
    return Finding("values", noise.name, FindingCode.CANNOT_HAVE_MOVED, facts(count=len(wrong)), (first,))


@dataclass(frozen=True)
class _Sample:
    """One sample: the error, the variance of its noise and what storing rounds, 0 where an element does not count; the energy
    of what is expected."""

    error: Tensor
    variance: Tensor
    floor: Tensor
    energy: float
    jumps: list[tuple[Tensor, Tensor]]
    side: Side | None

    def emptied(self) -> _Sample:
        """The same shape, and nothing that counts."""
        nothing = np.zeros_like(self.error)
        jumps = [(np.zeros_like(tipped), np.zeros_like(shaken)) for tipped, shaken in self.jumps]
        return _Sample(nothing, nothing, nothing, 0.0, jumps, self.side)


def _sample(
    noise: OutputNoise,
    profile: DerivedTolerance,
    index: int,
    pair: tuple[Tensor, Tensor],
    type_: tuple[float, float, float],
    known_offset: bool,
) -> _Sample:
    """`pair` is the actual and the expected array, `type_` the unit roundoff, the smallest step and the largest number."""
    storage, tiny, top = type_
    oracle = np.asarray(profile.oracle[index][noise.name], np.float64)
    deviation = profile.deviation[index][noise.name].astype(np.float64)
    left, right = (array.astype(np.float64) for array in pair)
    counts = np.isfinite(left) & np.isfinite(right) & (np.abs(right) <= top) & np.isfinite(oracle)
    with np.errstate(all="ignore"):
        error = np.where(counts, left - right, 0.0)
        variance = np.where(counts, np.square(deviation), 0.0)
        floor = np.where(counts, storage**2 * np.square(right) / 3 + tiny**2, 0.0)
        if known_offset:
            floor += np.where(counts, np.square(right - oracle), 0.0)
        energy = float(np.sum(np.square(np.where(counts, right, 0.0))))
    side = _side(noise.name, profile, index, counts, (error, oracle, variance))
    if side is not None and known_offset:
        side = replace(side, offset=np.where(counts, right - oracle, 0.0))
    return _Sample(error, variance, floor, energy, _jumps(noise.name, profile, index, counts), side)


def _jumps(name: str, profile: DerivedTolerance, index: int, counts: Tensor) -> list[tuple[Tensor, Tensor]]:
    """How far tipped evaluations (or those that lean to one side) and shaken ones lie apart from the oracle; empty where nothing
    is rounded to a grid."""
    margins = profile.margins[index] if index < len(profile.margins) else {}
    if f"{name}/tipped" not in margins or f"{name}/shaken" not in margins:
        return []
    carried = np.asarray(margins[f"{name}/tipped"])
    for way in ("up", "down"):
        carried = np.maximum(carried, np.abs(margins.get(f"{name}/{way}", 0.0)))
    tipped, shaken = (np.where(counts, array, 0.0).astype(np.float64) for array in (carried, margins[f"{name}/shaken"]))
    return [(tipped, shaken)]


def _side(
    name: str, profile: DerivedTolerance, index: int, counts: Tensor, known: tuple[Tensor, Tensor, Tensor]
) -> Side | None:
    """None where nothing is rounded to a grid."""
    margins = profile.margins[index] if index < len(profile.margins) else {}
    kinds = [f"{name}/{suffix}" for suffix in ("tipped", "up", "down", "sums", "sums_tipped")]
    if not all(kind in margins for kind in kinds):
        return None
    tipped, up, down = (np.where(counts, margins[kind], 0.0).astype(np.float64) for kind in kinds[:3])
    deviations, largest = (np.asarray(margins[kind], np.float64).reshape(-1) for kind in kinds[3:])
    error, oracle, variance = known
    still = (margins.get(f"{name}/shaken", np.ones(())) == 0.0) & (up == 0.0) & (down == 0.0) & counts
    common = shared(oracle, np.sqrt(variance), still)
    return Side(error, oracle, variance, np.zeros(error.shape), tipped, up, down, deviations, largest, common)


def _leaning(name: str, leans: Systematic) -> Finding:
    return Finding("values", name, leans.code, {**facts(used=leans.used), **leans.place})


def _share(samples: Sequence[_Sample]) -> float:
    """Noise over signal, both in the Euclidean norm."""
    energy = sum(sample.energy for sample in samples)
    noise = sum(float(np.sum(sample.variance) + np.sum(sample.floor)) for sample in samples)
    return math.sqrt(noise / energy) if energy > 0 else 0.0


def _distance(samples: Sequence[_Sample]) -> float:
    """Error over signal."""
    energy = sum(sample.energy for sample in samples)
    return (
        math.sqrt(sum(float(np.sum(np.square(sample.error))) for sample in samples) / energy)
        if energy > 0
        else math.inf
    )


def _telling(samples: list[_Sample]) -> tuple[list[_Sample], list[int]]:
    """The samples, those emptied that prove nothing, and the numbers of these: none where the noise of all together is within the
    limit, or where no other is left."""
    loud = [number for number, sample in enumerate(samples) if _share([sample]) > SHARE_LIMIT]
    if _share(samples) <= SHARE_LIMIT or not any(
        sample.energy > 0.0 for at, sample in enumerate(samples) if at not in loud
    ):
        return samples, []
    return [sample.emptied() if number in loud else sample for number, sample in enumerate(samples)], loud


def _set_aside(name: str, left_out: Sequence[int], samples: Sequence[_Sample]) -> tuple[Note, ...]:
    if not left_out:
        return ()
    most = max(_share([samples[number]]) for number in left_out)
    numbers = tuple(left_out)
    return (noted(NoteCode.SAMPLES_SET_ASIDE, output=name, numbers=numbers, samples=len(samples), share=float(most)),)


def _mistrust(output: str, share: float) -> Finding | None:
    if share <= SHARE_LIMIT:
        return None
    return Finding("degenerate", output, FindingCode.ILL_CONDITIONED, facts(share=float(share)))


def _odd(name: str, judged: Statistics, profile: DerivedTolerance, samples: Sequence[_Sample]) -> tuple[Note, ...]:
    if profile.header.learnt or not 0.0 <= judged.norm < _TINY_STATISTIC or not judged.elements or judged.noise == 0.0:
        return ()
    if (unit := profile.header.arithmetic.storage) > 2.0**-20:
        if judged.norm >= AS_IN_FLOAT32 * UNIT_ROUNDOFF["float32"] / unit:
            return ()  # most of it in a finer type, as engines compute what cancels
        precision = profile.header.precision
        if judged.norm == 0.0:
            return (noted(NoteCode.EXACT_IN_COARSE_TYPE, output=name, precision=precision),)
        return (noted(NoteCode.CLOSER_THAN_TYPE, output=name, precision=precision, times=float(1 / judged.norm)),)
    if judged.norm == 0.0 or profile.header.jumps or profile.header.precision == "float64":
        return ()
    share = _used_where_off(samples)
    return (noted(NoteCode.LITTLE_NOISE, output=name, share=share),) if share < _TINY_STATISTIC else ()


def _used_where_off(samples: Sequence[_Sample]) -> float:
    """Error over allowed noise, of the elements that are off at all: one that is exact, as the positive side of a LeakyRelu, says
    nothing of the noise of the others."""
    energy = sum(float(np.sum(np.square(sample.error))) for sample in samples)
    allowed = sum(float(np.sum(sample.variance + sample.floor, where=sample.error != 0.0)) for sample in samples)
    return math.sqrt(energy / allowed) if allowed > 0.0 else math.inf


def _over(name: str, judged: Statistics, actual: list[Tensor], expected: list[Tensor]) -> tuple[Finding, ...]:
    budgets = judged.budgets
    if not budgets["budget_used"] > 1.0:
        return ()
    worst = max(("norm", "element", "slice"), key=lambda kind: budgets[f"budget_{kind}"])
    first = worst_at(judged.worst[0], actual, expected)
    code, numbers = {
        "norm": (FindingCode.ERROR_NORM, facts(times=float(judged.norm))),
        "element": (FindingCode.ERROR_ELEMENT, facts(times=float(judged.element))),
        "slice": (
            FindingCode.ERROR_SLICE,
            facts(times=float(judged.slice), axis=int(judged.slice_at[0]), index=int(judged.slice_at[1])),
        ),
    }[worst]
    return (Finding("values", name, code, numbers | facts(used=float(budgets["budget_used"])), (first,)),)

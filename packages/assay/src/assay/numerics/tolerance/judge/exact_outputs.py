"""Judge what has no rounding errors in between: bits where nothing rounds, choices where noise decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.core.finding import Finding, FindingCode, facts
from assay.core.note import Note, NoteCode, noted
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, OutputNoise
from assay.numerics.tolerance.judge.decisions import undecided_rank
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement, worst_at
from assay.ports import Tensor


def judge_bits(noise: OutputNoise, actual: list[Tensor], expected: list[Tensor]) -> OutputJudgement:
    """Nothing on the way to this output is left to rounding: every bit must be there (either zero is zero)."""
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
    worst = tuple(worst_at(at, actual, expected) for at in wrong[:10])
    if wrong:
        findings = (Finding("values", noise.name, FindingCode.NOT_BIT_EXACT, elements=worst[:1]),)
    return OutputJudgement(noise.name, metrics=metrics, findings=findings, worst=worst)


def judge_choices(
    noise: OutputNoise, actual: list[Tensor], expected: list[Tensor], profile: DerivedTolerance
) -> OutputJudgement:
    """Another answer is right only where noise may have decided."""
    wrong: list[int] = []
    ties: list[int] = []
    others: list[int] = []
    start = 0
    for index, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        differs = _differ(mine, theirs, noise)
        if differs.any():
            near = _undecided(noise, mine, theirs, profile.margins[index])
            open_ = _chosen_otherwise(noise, mine, profile.margins[index]) & ~near
            wrong += [start + int(at) for at in np.flatnonzero(differs & ~near & ~open_)]
            ties += [start + int(at) for at in np.flatnonzero(differs & near)]
            others += [start + int(at) for at in np.flatnonzero(differs & open_)]
        start += mine.size
    budget = math.inf if wrong else 0.0
    metrics: dict[str, float] = {"budget_used": budget, "ties": float(len(ties))}
    notes: tuple[Note, ...] = ()
    if ties:
        at = worst_at(ties[0], actual, expected)
        known = noted(
            NoteCode.TIES,
            output=noise.name,
            count=len(ties),
            margin=noise.margin,
            index=at.index,
            expected=at.expected,
            actual=at.actual,
        )
        notes = (known,)
    findings: tuple[Finding, ...] = ()
    worst = tuple(worst_at(at, actual, expected) for at in wrong[:10])
    if wrong:
        decided = facts(count=len(wrong), margin=noise.margin)
        findings = (Finding("values", noise.name, FindingCode.CHOICES, decided, worst[:1]),)
    degenerate = None
    if others and not wrong:
        chosen = facts(count=len(others), margin=noise.margin)
        degenerate = Finding("degenerate", noise.name, FindingCode.OPEN_CHOICES, chosen)
    return OutputJudgement(
        noise.name, metrics=metrics, findings=findings, degenerate=degenerate, notes=notes, worst=worst
    )


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
    own = _own(noise, margins)
    if noise.kind == "ranking":
        return undecided_rank(own, theirs, mine)
    value = _number(mine)
    low, high = own["low"], own["high"]
    if mine.dtype.kind not in "biu":
        low, high = low - _slack(low, noise), high + _slack(high, noise)
    return np.asarray((value >= low) & (value <= high))


def _chosen_otherwise(noise: OutputNoise, mine: Tensor, margins: dict[str, Tensor]) -> Tensor:
    """Where a choice that some noisy evaluation makes otherwise fell on a number that none put there, of those that were chosen."""
    if noise.kind != "chosen":
        return np.zeros(mine.shape, bool)
    own, value = _own(noise, margins), mine.astype(np.float64)
    low, high = own["low"].astype(np.float64), own["high"].astype(np.float64)
    return np.asarray((low < high) & (value >= low.min(initial=math.inf)) & (value <= high.max(initial=-math.inf)))


def _own(noise: OutputNoise, margins: dict[str, Tensor]) -> dict[str, Tensor]:
    prefix = f"{noise.name}/"
    return {key.removeprefix(prefix): value for key, value in margins.items() if key.startswith(prefix)}

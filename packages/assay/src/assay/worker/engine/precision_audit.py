"""The actual precision of an engine against the one that its flow asks for, in both directions.

Two witnesses are heard: what the backend tells of its operators and weights, and how near its answers come. A flow that
rounds coarser than it promises has a defect; one that computes finer has right answers, which say nothing of the promised
type: its outcome is `other_precision`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from assay.core.comparison import Comparison, Finding
from assay.core.dtype import UNIT_ROUNDOFF, is_floating
from assay.core.engine_info import EngineInfo
from assay.models.model_precision import ModelPrecision, moves, multiplies, unsigned

QUANTIZED = ("int8", "int4", "int2")
"""Integers of which an engine makes numbers by a scale, the finest first; their unsigned forms count as they do."""
WIDE = ("float64", "float32", "tf32")
"""Types that nobody promises for their speed or size: to compute finer than these is no news."""
_MOVING = {"cast", "reformat"}
_WEIGHTS = "weights"
_FEW = 0.5
_NEAR = 0.0025
"""Of the budget of a norm, whose limit is four noise widths: a hundredth of one."""
_AS_IN_FLOAT32 = 25.0
"""Of that budget in float32, a hundred noise widths of that type: an engine that computes in a coarser one, and in float32 only what
cancels, is further off."""
_NEAR_DB = 96.0
"""Of signal to noise against the model in float: eight bits leave about 48, a hundredth of that noise is 40 more."""


def find_lower_precision(asked: str, facts: EngineInfo, own: Callable[[], ModelPrecision]) -> tuple[Finding, ...]:
    """A finding where operators computed, or weights are stored, in a type coarser than `asked`, and more of them than the
    model itself has. `own` is asked only where it matters."""
    used = _computing(facts)
    for kind, layers in facts.weights.items():
        if layers and (is_floating(unsigned(kind)) or unsigned(kind) in QUANTIZED):
            used.setdefault(unsigned(kind), {})[_WEIGHTS] = layers
    found = {kind: names for kind, names in used.items() if _is_coarser(kind, asked)}
    if not found:
        return ()
    excused = own()
    told = [text for kind, names in sorted(found.items()) for text in _beyond(kind, names, excused)]
    text = f"this {asked} flow computes in a coarser type than it promises: {'; '.join(told)}."
    return (Finding("precision", "", text),) if told else ()


def _beyond(kind: str, names: Mapping[str, int], own: ModelPrecision) -> list[str]:
    """Which operators of an engine the model does not excuse: products are counted, as are weights. What else engines call
    by a type may be a cast or a comparison that was fused: any value of the model in so coarse a type excuses it."""
    known = {*own.multiplying, *own.weights, *own.values}.intersection({*UNIT_ROUNDOFF, *QUANTIZED})
    like = [one for one in known if one == kind or _is_coarser(one, kind)]
    if kind in QUANTIZED and "bool" in own.values:
        like.append("bool")  # engines hold truth values in bytes
    stored = {name: count for name, count in names.items() if name == _WEIGHTS}
    products = {name: count for name, count in names.items() if name not in stored and multiplies(name)}
    others = {name: count for name, count in names.items() if name not in {*stored, *products}}
    found = []
    for group, allowed in (
        (products, sum(own.multiplying[one] for one in like)),
        (others, math.inf if own.values.intersection(like) else 0),
        (stored, sum(own.weights[one] for one in like)),
    ):
        if sum(group.values()) > allowed:
            excused = f"{sum(group.values())} of them, and the model has {allowed}" if allowed else "the model has none"
            found.append(f"{', '.join(sorted(group)[:3])} in {kind} ({excused})")
    return found


def find_higher_precision(asked: str, facts: EngineInfo, comparisons: Sequence[Comparison]) -> str:
    """Why nothing of the flow ran in the type that it promises; "" where some did, or where nobody tells."""
    if asked in WIDE:
        return ""
    computing = _computing(facts)
    has = {*computing, *(unsigned(kind) for kind, layers in facts.weights.items() if layers)}
    told = has or ({unsigned(facts.precision)} if facts.precision else set())
    if told and unsigned(asked) not in told and (computing or facts.weights or not facts.placements):
        ran = ", ".join(f"{', '.join(sorted(names)[:3])} in {kind}" for kind, names in sorted(computing.items()))
        return f"nothing of this {asked} flow computes or is stored in {asked}: {ran or f'all is {facts.precision}'}"
    if computing or facts.weights or not facts.placements:
        return _nearer(asked, comparisons)
    return ""


def minor_deviations(asked: str, facts: EngineInfo) -> tuple[str, ...]:
    """A warning where less than half of the operators compute in the type that the flow promises, and some do."""
    if asked in WIDE:
        return ()
    counts = {kind: sum(names.values()) for kind, names in _computing(facts).items()}
    own, total = counts.get(unsigned(asked), 0), sum(counts.values())
    if not 0 < own < _FEW * total:
        return ()
    return (
        f"{own} of {total} computing operators run in {asked}; demand more with "
        f'--require "precision.{unsigned(asked)} >= NUMBER"',
    )


def _nearer(asked: str, comparisons: Sequence[Comparison]) -> str:
    """Where every judged output is off, and by less than a hundredth of what rounding to the type leaves."""
    if asked in QUANTIZED:
        ratios = [one.metrics["sqnr_db"] for one in comparisons if "sqnr_db" in one.metrics]
        if not ratios or not all(_NEAR_DB < one < math.inf for one in ratios):
            return ""
        return (
            f"the error against the model in float is {min(ratios):.0f} dB below the answers, where {asked} leaves at most some 50: this "
            f"{asked} flow computed in a finer type, whatever the backend says, or nothing that it rounds shows in these outputs"
        )
    if not UNIT_ROUNDOFF.get(asked, 0.0) > UNIT_ROUNDOFF["float32"]:
        return ""
    used = [one.metrics["budget_norm"] for one in comparisons if "budget_norm" in one.metrics]
    near = min(_NEAR, _AS_IN_FLOAT32 * UNIT_ROUNDOFF["float32"] / UNIT_ROUNDOFF[asked])
    if not used or not all(0.0 < one < near for one in used):
        return ""
    return (
        f"the answers are at least {0.25 / max(used):.0f} times closer than {asked} can be: this {asked} flow computed in a finer "
        "type, whatever the backend says"
    )


def _computing(facts: EngineInfo) -> dict[str, dict[str, int]]:
    """By type, the operators that computed in it and how many of each; moving, casting and indexing apart."""
    found: dict[str, dict[str, int]] = {}
    for one in facts.placements:
        kind = unsigned(one.precision)
        if one.role in _MOVING or moves(one.operator) or not (is_floating(kind) or kind in QUANTIZED):
            continue
        names = found.setdefault(kind, {})
        names[one.operator] = names.get(one.operator, 0) + one.count
    return found


def _is_coarser(kind: str, asked: str) -> bool:
    if kind in QUANTIZED and asked in QUANTIZED:
        return QUANTIZED.index(kind) > QUANTIZED.index(asked)
    if kind in QUANTIZED or asked not in UNIT_ROUNDOFF:
        return kind in QUANTIZED and asked in UNIT_ROUNDOFF
    return UNIT_ROUNDOFF[kind] > UNIT_ROUNDOFF[asked]

"""Whether an engine computes in a coarser type than its flow promises, by what the backend tells of its operators and weights.

A flow that rounds coarser than it promises has a defect. One that computes finer has right answers, which say nothing of the promised
type: `judge/finer_precision.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from assay.core.compute_types import QUANTIZED, WIDE, computing_types, unsigned
from assay.core.dtype import UNIT_ROUNDOFF, is_floating
from assay.core.engine_info import EngineInfo
from assay.core.finding import Finding, FindingCode
from assay.core.finding import facts as facts_seen
from assay.core.note import Note, NoteCode, noted
from assay.models.model_precision import ModelPrecision, multiplies

_WEIGHTS = "weights"
_FEW = 0.5
Beyond = tuple[str, str, int, float]
"""Names of operators, their type, how many there are, and how many the model excuses."""


def find_lower_precision(precision: str, facts: EngineInfo, own: Callable[[], ModelPrecision]) -> tuple[Finding, ...]:
    """A finding where operators computed, or weights are stored, in a type coarser than `precision`, and more of them than the
    model itself has. `own` is asked only where it matters."""
    used = computing_types(facts)
    for kind, layers in facts.weights.items():
        if layers and (is_floating(unsigned(kind)) or unsigned(kind) in QUANTIZED):
            used.setdefault(unsigned(kind), {})[_WEIGHTS] = layers
    coarser = {kind: names for kind, names in used.items() if _is_coarser(kind, precision)}
    if not coarser:
        return ()
    excused = own()
    beyond = [entry for kind, names in sorted(coarser.items()) for entry in _beyond(kind, names, excused)]
    if not beyond:
        return ()
    operators, dtypes, counts, allowed = (tuple(column) for column in zip(*beyond, strict=True))
    numbers = facts_seen(asked=precision, operators=operators, dtypes=dtypes, counts=counts, allowed=allowed)
    return (Finding("precision", "", FindingCode.LOWER_PRECISION, numbers),)


def _beyond(kind: str, names: Mapping[str, int], own: ModelPrecision) -> list[Beyond]:
    """Which operators of an engine the model does not excuse: products are counted, as are weights. What else engines call
    by a type may be a cast or a comparison that was fused: any value of the model in so coarse a type excuses it."""
    known = {*own.multiplying, *own.weights, *own.values}.intersection({*UNIT_ROUNDOFF, *QUANTIZED})
    like = [dtype for dtype in known if dtype == kind or _is_coarser(dtype, kind)]
    if kind in QUANTIZED and "bool" in own.values:
        like.append("bool")  # engines hold truth values in bytes
    stored = {name: count for name, count in names.items() if name == _WEIGHTS}
    products = {name: count for name, count in names.items() if name not in stored and multiplies(name)}
    others = {name: count for name, count in names.items() if name not in {*stored, *products}}
    entries: list[Beyond] = []
    for group, allowed in (
        (products, sum(own.multiplying[dtype] for dtype in like)),
        (others, math.inf if own.values.intersection(like) else 0),
        (stored, sum(own.weights[dtype] for dtype in like)),
    ):
        if (count := sum(group.values())) > allowed:
            entries.append((", ".join(sorted(group)[:3]), kind, count, allowed))
    return entries


def minor_deviations(precision: str, facts: EngineInfo) -> tuple[Note, ...]:
    """A note where less than half of the operators compute in the type that the flow promises, and some do."""
    if precision in WIDE:
        return ()
    counts = {kind: sum(names.values()) for kind, names in computing_types(facts).items()}
    own, total = counts.get(unsigned(precision), 0), sum(counts.values())
    if not 0 < own < _FEW * total:
        return ()
    return (noted(NoteCode.FEW_IN_PRECISION, count=own, operators=total, asked=precision, metric=unsigned(precision)),)


def _is_coarser(kind: str, precision: str) -> bool:
    if kind in QUANTIZED and precision in QUANTIZED:
        return QUANTIZED.index(kind) > QUANTIZED.index(precision)
    if kind in QUANTIZED or precision not in UNIT_ROUNDOFF:
        return kind in QUANTIZED and precision in UNIT_ROUNDOFF
    return UNIT_ROUNDOFF[kind] > UNIT_ROUNDOFF[precision]

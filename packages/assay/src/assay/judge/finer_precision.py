"""Whether a flow computed finer than it promises: its answers are right, and say nothing of the promised type.

Two witnesses are heard: what the backend tells of its operators and weights, and how near its answers come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.comparison import Comparison
from assay.core.compute_types import QUANTIZED, WIDE, computing_types, unsigned
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.engine_info import EngineInfo

_NEAR = 0.0025
"""Of the budget of a norm, whose limit is four noise widths: a hundredth of one."""
_AS_IN_FLOAT32 = 25.0
"""Of that budget in float32, a hundred noise widths of that type: an engine that computes in a coarser one, and in float32 only what
cancels, is further off."""
_NEAR_DB = 96.0
"""Of signal to noise against the model in float: eight bits leave about 48, a hundredth of that noise is 40 more."""


def find_higher_precision(precision: str, facts: EngineInfo, comparisons: Sequence[Comparison]) -> str:
    """Why nothing of the flow ran in the type that it promises; "" where some did, or where nobody tells."""
    if precision in WIDE:
        return ""
    computing = computing_types(facts)
    has = {*computing, *(unsigned(kind) for kind, layers in facts.weights.items() if layers)}
    types = has or ({unsigned(facts.precision)} if facts.precision else set())
    if types and unsigned(precision) not in types and (computing or facts.weights or not facts.placements):
        ran = ", ".join(f"{', '.join(sorted(names)[:3])} in {kind}" for kind, names in sorted(computing.items()))
        return f"nothing of this {precision} flow computes or is stored in {precision}: {ran or f'all is {facts.precision}'}"
    if computing or facts.weights or not facts.placements:
        return _nearer(precision, comparisons)
    return ""


def _nearer(precision: str, comparisons: Sequence[Comparison]) -> str:
    """Where every judged output is off, and by less than a hundredth of what rounding to the type leaves."""
    if precision in QUANTIZED:
        ratios = [comparison.metrics["sqnr_db"] for comparison in comparisons if "sqnr_db" in comparison.metrics]
        if not ratios or not all(_NEAR_DB < ratio < math.inf for ratio in ratios):
            return ""
        return (
            f"the error against the model in float is {min(ratios):.0f} dB below the answers, where {precision} leaves at most some 50: "
            f"this {precision} flow computed in a finer type, whatever the backend says, or nothing that it rounds shows in these outputs"
        )
    if not UNIT_ROUNDOFF.get(precision, 0.0) > UNIT_ROUNDOFF["float32"]:
        return ""
    used = [comparison.metrics["budget_norm"] for comparison in comparisons if "budget_norm" in comparison.metrics]
    near = min(_NEAR, _AS_IN_FLOAT32 * UNIT_ROUNDOFF["float32"] / UNIT_ROUNDOFF[precision])
    if not used or not all(0.0 < budget < near for budget in used):
        return ""
    return (
        f"the answers are at least {0.25 / max(used):.0f} times closer than {precision} can be: this {precision} flow computed in a finer "
        "type, whatever the backend says"
    )

"""Which noise rule is whose: the variance that rounding adds at one place, element by element.

Rules of operators stand in their records (`numerics.operators`), what several share here: sums in `sums`, functions and
normalisations in `functions`, interpolation in `sampling`, single roundings in `rounding_rules`. An
operator that has none gets `fallback`, and is listed in the profile. Further rules come from the entry points of the
group `assay.noise_rules` (name: operator type; object: a rule).
"""

from __future__ import annotations

import math

import numpy as np

from assay.numerics.operators.index import by_name, names_where
from assay.numerics.tolerance.rules.functions import (
    affine,
    exponential,
    function,
    logistic,
    mean,
    standardized,
)
from assay.numerics.tolerance.rules.rounding_rules import Rule, fused, inner, rounding
from assay.numerics.tolerance.rules.sums import positive_sum, total
from assay.numerics.tolerance.rules.ties import steps

GROUP = "assay.noise_rules"

INNER: dict[str, Rule] = {
    "inner": inner,
    "output": rounding,
    "fused": fused,
    "affine": affine,
    "mean": mean,
    "positive_sum": positive_sum,
    "standardized": standardized,
    "exp": exponential,
    "log": function(None),
    "tanh": function(lambda x, z: 1 - z * z),
    "sigmoid": function(logistic),
    "erf": function(lambda x, z: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    "steps": steps,
    "sum": lambda site, unit: total(float(site.operands["terms"]), site.value, site.operands["squares"](), unit),
    "convert": rounding,
    "left_out": lambda site, unit: np.square(site.operands["error"]) + rounding(site, unit),
}
"""Places inside our own kernels, by the kind that they mark."""

RULES: dict[str, Rule] = by_name(lambda record: record.rounding)
"""Whole operators, by type: what their records say (`numerics.operators`)."""

MOVEMENT = names_where(lambda record: record.moves)
"""Operators that only move, choose or count: a correct backend gives every bit. Those with a rule above too (Range counts in whole
numbers, and computes in real ones) round where their results are real."""


def rule_for(operator: str) -> Rule | None:
    """Ours, or one that a plug-in brings; None where there is neither."""
    return _plugins().get(operator) or RULES.get(operator)


_loaded: dict[str, Rule] | None = None


def _plugins() -> dict[str, Rule]:
    global _loaded
    if _loaded is None:
        from importlib.metadata import entry_points

        _loaded = {entry.name: entry.load() for entry in entry_points(group=GROUP)}
    return _loaded

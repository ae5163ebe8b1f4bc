"""Ensembles of trees: a sum of what every tree gives, and the transform of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.numerics.attributes import stated
from assay.numerics.operators.mutations import TREES
from assay.numerics.operators.record import LEARNING, OnnxOperator, alike
from assay.numerics.shapes.tabular import tabular
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import EXACT, RuleSite, Variance, rounding, text_of
from assay.numerics.tolerance.rules.sums import total

_STEEPEST = {"LOGISTIC": 1 / 16, "SOFTMAX": 1 / 4, "SOFTMAX_ZERO": 1 / 4}
"""The square of what an error of all scores can grow by (the derivatives are at most 1/4 and 1/2)."""
_LOGISTIC = 2
_LATER_STEEPEST = {1: 1 / 4, _LOGISTIC: 1 / 16, 3: 1 / 4}
"""The same by the numbers of TreeEnsemble-5."""


def ensemble(site: RuleSite, unit: Arithmetic) -> Variance:
    """One addition for each tree in any order (the sums of squares bound its partial sums), then the transform."""
    from assay.numerics.oracle.trees import votes

    attributes = site.call.attributes
    role = "target" if attributes.get("target_ids") is not None else "class"
    x = np.asarray(site.call.inputs[0])
    x = x.reshape(1, -1) if x.ndim == 1 else x
    arrays = votes(x, attributes, role, site.value.shape[-1])
    trees = float(len(set(attributes["nodes_treeids"])))
    added: Any = total(trees, arrays.total, arrays.squares, unit)
    if role == "class" and len(set(attributes["class_ids"])) == 1:
        added = np.broadcast_to(added.max(axis=1, keepdims=True), added.shape)  # both scores are made of the one sum
    if text_of(stated(attributes, "aggregate_function", "SUM")) == "AVERAGE":
        added = added / trees**2
    kind = text_of(stated(attributes, "post_transform", "NONE"))
    if kind in _STEEPEST:
        spread = added if kind == "LOGISTIC" else added.sum(axis=1, keepdims=True)
        return _STEEPEST[kind] * spread + 16 * rounding(site, unit)
    return added + 4 * rounding(site, unit)


def later_ensemble(site: RuleSite, unit: Arithmetic) -> Variance:
    """The same of TreeEnsemble-5, by its largest leaf; the least and the most of all trees are leaves as they are."""
    attributes = site.call.attributes
    aggregate = int(attributes.get("aggregate_function", 1))
    kind = int(stated(attributes, "post_transform", 0))
    trees = float(len(attributes["tree_roots"]))
    leaf = float(np.square(np.asarray(attributes["leaf_weights"], np.float64)).max(initial=0.0))
    scale = 1.0 if aggregate else trees
    # A transform hides the sum: its bound is that of all trees at their largest leaf.
    summed = np.full_like(site.value, trees * leaf**0.5) if kind else site.value * scale
    added: Any = 0.0 if aggregate > 1 else total(trees, summed, np.full_like(site.value, trees * leaf), unit) / scale**2
    if kind in _LATER_STEEPEST:
        spread = added if kind == _LOGISTIC or aggregate > 1 else added.sum(axis=1, keepdims=True)
        return _LATER_STEEPEST[kind] * spread + 16 * rounding(site, unit)
    return EXACT if aggregate > 1 else added + rounding(site, unit)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "TreeEnsembleRegressor TreeEnsembleClassifier",
        domain=LEARNING,
        rounding=ensemble,
        reference="trees",
        shape=tabular,
        mutations=TREES,
    ),
    OnnxOperator(
        "TreeEnsemble",
        LEARNING,
        rounding=later_ensemble,
        reference="later_trees",
        shape=tabular,
        mutations=TREES,
    ),
)

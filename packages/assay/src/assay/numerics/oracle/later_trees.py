"""TreeEnsemble, of version 5 of ai.onnx.ml.

onnx.reference 1.23.2 walks each tree for each row in Python, which takes seconds for a thousand trees; it leaves `post_transform` out,
and of a set of members it reads no more behind a 0.
"""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.numerics.attributes import NotComputed, stated
from assay.numerics.oracle.scores import Real, post_transformed
from assay.ports import Tensor

_TESTS = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
_NOT_EQUAL, _MEMBER = 5, 6
_AVERAGE, _SUM, _LEAST, _MOST = range(4)
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


class TreeEnsemble(Real):
    """Sum, mean, least or most of what the trees give to each target."""

    op_domain = "ai.onnx.ml"

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor]:
        rows = x.reshape(1, -1) if x.ndim == 1 else x
        targets = int(stated(attributes, "n_targets", 1))
        number = int(stated(attributes, "post_transform", 0))
        if number not in range(len(_TRANSFORMS)):
            raise NotComputed(post_transform=number)
        transform = _TRANSFORMS[number]
        if transform == "PROBIT" or (transform != "NONE" and targets == 1):
            # ONNX Runtime 1.31.1 leaves the transform of a single target out: nothing to rely on.
            raise NotComputed(post_transform=transform, targets=targets)
        scores = _aggregated(reached_leaves(rows, attributes), attributes, targets)
        return (self.given(post_transformed(scores, transform), x),)


def _aggregated(leaves: Tensor, attributes: Mapping[str, Any], targets: int) -> Tensor:
    """One row of scores for each row of the table; raises NotComputed where a target has no leaf of which it could be the least."""
    weights = np.asarray(attributes["leaf_weights"], np.float64)[leaves]
    at = np.asarray(attributes["leaf_targetids"], np.int64)[leaves]
    rows = np.broadcast_to(np.arange(leaves.shape[1]), leaves.shape)
    how = int(stated(attributes, "aggregate_function", _SUM))
    if how in (_SUM, _AVERAGE):
        total = np.zeros((leaves.shape[1], targets))
        np.add.at(total, (rows, at), weights)
        return total / len(leaves) if how == _AVERAGE else total
    chosen = np.full((leaves.shape[1], targets), np.inf if how == _LEAST else -np.inf)
    (np.minimum if how == _LEAST else np.maximum).at(chosen, (rows, at), weights)
    counts = np.zeros(chosen.shape, np.int64)
    np.add.at(counts, (rows, at), 1)
    if not counts.all():
        raise NotComputed(aggregate_function=how, targets=targets)
    return chosen


def reached_leaves(x: Tensor, attributes: Mapping[str, Any]) -> Tensor:
    """Which leaf each row ends in, one row of them for each tree. NaN follows the branch that `nodes_missing_value_tracks_true` names."""
    modes, features = (np.asarray(attributes[name], np.int64) for name in ("nodes_modes", "nodes_featureids"))
    splits = np.asarray(attributes["nodes_splits"], np.float64)
    missing = np.asarray(stated(attributes, "nodes_missing_value_tracks_true", [0] * len(modes)), bool)
    members = _members(modes, attributes.get("membership_values"))
    ids = np.stack([np.asarray(attributes[f"nodes_{side}nodeids"], np.int64) for side in ("false", "true")])
    ends = np.stack([np.asarray(attributes[f"nodes_{side}leafs"], bool) for side in ("false", "true")])
    at = np.repeat(np.asarray(attributes["tree_roots"], np.int64)[:, None], len(x), axis=1)
    rows = np.broadcast_to(np.arange(len(x)), at.shape)
    walking = np.ones(at.shape, bool)
    for _ in range(len(modes)):  # no path is longer; a cycle ends here
        places = at[walking]
        value = x[rows[walking], features[places]]
        taken = _taken(
            value, modes[places], splits[places], [members.get(place, ()) for place in places] if members else []
        )
        taken = np.where(np.isnan(value), missing[places] | ((modes[places] == _NOT_EQUAL) & taken), taken).astype(
            np.int64
        )
        at[walking] = ids[taken, places]
        walking[walking] = ~ends[taken, places]
        if not walking.any():
            return at
    raise NotComputed(tree_roots=len(at))


def _taken(value: Tensor, modes: Tensor, splits: Tensor, sets: list[Any]) -> Tensor:
    """Whether each value goes down the branch of what is true."""
    taken = np.zeros(len(value), bool)
    for mode, test in enumerate(_TESTS):
        taken |= (modes == mode) & test(value, splits)
    if sets:
        taken |= (modes == _MEMBER) & np.array(
            [number in chosen for number, chosen in zip(value, sets, strict=True)], bool
        )
    return taken


def _members(modes: Tensor, values: Any) -> dict[int, tuple[float, ...]]:
    """By the place of its node, in the order of which the sets follow one another, each with a NaN at its end."""
    numbers = np.zeros(0) if values is None else np.asarray(values, np.float64)
    ends = np.flatnonzero(np.isnan(numbers))
    places = np.flatnonzero(modes == _MEMBER)
    if len(ends) != len(places):
        raise NotComputed(membership_values=len(ends), nodes=len(places))
    starts = [0, *(end + 1 for end in ends)]
    return {
        int(place): tuple(numbers[start:end].tolist()) for place, start, end in zip(places, starts, ends, strict=False)
    }

"""Ensembles of decision trees and ZipMap, of the domain ai.onnx.ml.

onnx.reference 1.23.2 computes a classifier in single precision whatever it is given, walks every tree for every row in
Python, has no NaN without `nodes_missing_value_tracks_true`, no post transforms of a regressor, and no ZipMap. What the
standard leaves open of two classes with one score (who wins, and what the other's score is) is what ONNX Runtime does.
"""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from onnx.reference.op_run import OpRun

from assay.numerics.attributes import NotComputed, stated
from assay.numerics.oracle.scores import Real
from assay.ports import Tensor

_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_TESTS = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)


class Votes(NamedTuple):
    """The sum of what all trees give to each target or class of each row, and the sum of its squares."""

    total: Tensor
    squares: Tensor


def votes(x: Tensor, attributes: Mapping[str, Any], role: str, targets: int) -> Votes:
    """Of `role` target or class. Each row goes down every tree; NaN follows the branch that `missing_value_tracks_true` names."""
    leaves = _leaves(x, attributes)
    by_node: dict[tuple[int, int], list[tuple[int, float]]] = {}
    keys = zip(attributes[f"{role}_treeids"], attributes[f"{role}_nodeids"], strict=True)
    weights = _numbers(attributes, f"{role}_weights")
    for key, target, weight in zip(keys, attributes[f"{role}_ids"], weights, strict=True):
        by_node.setdefault(key, []).append((target, weight))
    nodes = list(zip(attributes["nodes_treeids"], attributes["nodes_nodeids"], strict=True))
    shape = (len(nodes), targets)
    table, squares = np.zeros(shape), np.zeros(shape)
    for position, key in enumerate(nodes):
        for target, weight in by_node.get(key, ()):
            table[position, target] += weight
            squares[position, target] += weight * weight
    return Votes(_over_trees(table, leaves), _over_trees(squares, leaves))


def _over_trees(table: Tensor, leaves: Tensor) -> Tensor:
    total = np.zeros((leaves.shape[1], table.shape[1]))
    for tree in leaves:
        total += table[tree]
    return total


def _leaves(x: Tensor, attributes: Mapping[str, Any]) -> Tensor:
    """Position of the leaf that each row ends in, one row of them for each tree."""
    trees, ids = attributes["nodes_treeids"], attributes["nodes_nodeids"]
    position = {key: place for place, key in enumerate(zip(trees, ids, strict=True))}
    count = len(ids)
    modes = np.array(
        [_MODES.index(mode_name) if mode_name in _MODES else -1 for mode_name in map(_text, attributes["nodes_modes"])]
    )
    yes, no = (
        np.array([position.get((tree, node), 0) for tree, node in zip(trees, attributes[name], strict=True)])
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    )
    features = np.array(attributes["nodes_featureids"], np.int64)
    limits = _numbers(attributes, "nodes_values")
    missing = np.array(stated(attributes, "nodes_missing_value_tracks_true", [0] * count), bool)
    roots = _roots(trees)
    rows = np.arange(len(x))
    array = np.empty((len(roots), len(x)), np.int64)
    for number, root in enumerate(roots):
        at = np.full(len(x), root)
        for _ in range(count):  # no path is longer; a cycle ends here
            inner = modes[at] >= 0
            if not inner.any():
                break
            value = x[rows, features[at]]
            taken = np.zeros(len(x), bool)
            for mode, test in enumerate(_TESTS):
                taken |= (modes[at] == mode) & test(value, limits[at])
            taken = np.where(np.isnan(value), missing[at] | ((modes[at] == 5) & taken), taken)
            at = np.where(inner, np.where(taken, yes[at], no[at]), at)
        array[number] = at
    return array


def _roots(trees: Any) -> list[int]:
    first: dict[int, int] = {}
    for place, tree in enumerate(trees):
        first.setdefault(tree, place)
    return list(first.values())


def _numbers(attributes: Mapping[str, Any], name: str) -> Tensor:
    """Of the attribute or its form as a tensor: numbers of single precision are those that they stand for."""
    tensor = attributes.get(f"{name}_as_tensor")
    if tensor is not None:
        return np.asarray(tensor, np.float64)
    return np.asarray(np.asarray(attributes.get(name) or [], np.float32), np.float64)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def transformed(scores: Tensor, kind: Any) -> Tensor:
    """`post_transform`, row by row."""
    match _text(kind or "NONE"):
        case "LOGISTIC":
            with np.errstate(over="ignore"):
                return np.asarray(1 / (1 + np.exp(-scores)))
        case "SOFTMAX":
            raised = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(raised / raised.sum(axis=1, keepdims=True))
        case "SOFTMAX_ZERO":
            raised = np.where(np.abs(scores) > 1e-7, np.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
            total = raised.sum(axis=1, keepdims=True)
            return np.asarray(np.where(total == 0, 0.5, raised / np.where(total == 0, 1, total)))
        case "PROBIT":
            raise NotComputed(post_transform="PROBIT")
        case _:
            return scores


def _rows(x: Tensor) -> Tensor:
    return x.reshape(1, -1) if x.ndim == 1 else x


class TreeEnsembleRegressor(Real):
    """Sums, means, least or most of what the trees give to each target."""

    op_domain = "ai.onnx.ml"

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor]:
        targets = int(attributes["n_targets"])
        aggregate = _text(stated(attributes, "aggregate_function", "SUM"))
        kind = _text(stated(attributes, "post_transform", "NONE"))
        if aggregate not in ("SUM", "AVERAGE") or kind != "NONE":
            # ONNX Runtime 1.31.1 leaves the transform of a single target out: nothing to rely on.
            raise NotComputed(aggregate_function=aggregate, post_transform=kind)
        scores = votes(_rows(x), attributes, "target", targets).total
        if aggregate == "AVERAGE":
            scores = scores / len(set(attributes["nodes_treeids"]))
        base = _numbers(attributes, "base_values")
        scores = scores + base if base.size else scores
        return (self.given(scores, x),)


class TreeEnsembleClassifier(Real):
    """The label with the highest score, and the scores."""

    op_domain = "ai.onnx.ml"

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor, Tensor]:
        numbers, texts = attributes.get("classlabels_int64s"), attributes.get("classlabels_strings")
        labels = np.asarray(numbers, np.int64) if numbers else np.asarray([_text(text) for text in texts or ()], object)
        if len(labels) < 2:
            raise NotComputed(class_labels=len(labels))
        chosen, scores = classified(_rows(x), attributes, len(labels))
        return labels[chosen], self.given(scores, x)


def classified(x: Tensor, attributes: Mapping[str, Any], classes: int) -> tuple[Tensor, Tensor]:
    """Which class wins, and the scores after the transform."""
    arrays = votes(x, attributes, "class", classes)
    base, kind = _numbers(attributes, "base_values"), attributes.get("post_transform")
    scores = arrays.total + base if base.size == classes else arrays.total
    named = set(attributes["class_ids"])
    if classes > 2 and len(named) < classes:
        raise NotComputed(class_labels=classes, classes_of_leaves=len(named))
    if classes > 2 or (named == {0, 1} and not base.size):
        # "The top class". ONNX Runtime 1.31.1 answers the second of two wherever its score is above zero.
        return scores.argmax(axis=1), transformed(scores, kind)
    if named != {0} or base.size > 1:
        raise NotComputed(class_labels=classes, class_ids=sorted(named), base_values=base.size)
    voted = scores[:, 0] + (base[0] if base.size else 0.0)
    positive = bool((_numbers(attributes, "class_weights") >= 0).all())
    chosen = (voted > (0.5 if positive else 0.0)).astype(np.int64)
    both = np.stack([-voted, voted], axis=1)
    if _text(kind or "") == "LOGISTIC":
        return chosen, transformed(both, kind)
    return chosen, np.stack([1 - voted, voted], axis=1) if positive else both


class ZipMap(OpRun):
    """One map from class to score for each row."""

    op_domain = "ai.onnx.ml"

    def _run(
        self, x: Tensor, classlabels_int64s: Any = None, classlabels_strings: Any = None
    ) -> tuple[list[dict[Any, float]]]:
        labels = list(classlabels_int64s or [_text(text) for text in classlabels_strings or ()])
        return ([dict(zip(labels, row, strict=True)) for row in _rows(x).tolist()],)


LOOKUPS = frozenset({"LabelEncoder", "OneHotEncoder", "DictVectorizer"})
"""What they give is chosen, not computed: it is the same number in any wider type."""

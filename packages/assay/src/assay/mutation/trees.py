"""Ensembles of decision trees whose tables a compiler misread: thresholds, branches, features, leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from onnx import NodeProto, numpy_helper

from assay.mutation.coarse_arithmetic import rounded
from assay.mutation.graph import Array, Graph
from assay.mutation.mutation_operator import MutationOperator

_MODES = (b"BRANCH_LEQ", b"BRANCH_LT", b"BRANCH_GTE", b"BRANCH_GT", b"BRANCH_EQ", b"BRANCH_NEQ")
"""In the order of their numbers in TreeEnsemble."""
_STRICT = {0: 1, 1: 0, 2: 3, 3: 2}
"""A comparison and the one that differs from it where both sides are equal."""


class _Tables(NamedTuple):
    """What the attributes of an ensemble are called."""

    thresholds: str
    leaves: str


def _tables(node: NodeProto) -> _Tables:
    match node.op_type:
        case "TreeEnsemble":
            return _Tables("nodes_splits", "leaf_weights")
        case "TreeEnsembleClassifier":
            return _Tables("nodes_values", "class_weights")
    return _Tables("nodes_values", "target_weights")


def _numbers(graph: Graph, node: NodeProto, name: str) -> Array:
    """Of the attribute, in whichever of its forms the node has; empty where it has none."""
    for form in (name, f"{name}_as_tensor"):
        stated = graph.get(node, form)
        if stated is not None:
            return np.asarray(
                numpy_helper.to_array(stated) if hasattr(stated, "dims") else np.asarray(stated, np.float32)
            )
    return np.zeros(0, np.float32)


def _store(graph: Graph, node: NodeProto, name: str, numbers: Array) -> None:
    stated = graph.get(node, name)
    if stated is not None and not hasattr(stated, "dims"):
        graph.set(node, name, [float(number) for number in numbers])
        return
    form = name if stated is not None else f"{name}_as_tensor"
    graph.set(node, form, numpy_helper.from_array(numbers, graph.get(node, form).name))


def _modes(graph: Graph, node: NodeProto) -> list[int]:
    """By number; -1 for a leaf, and for what is no comparison of two numbers."""
    stated = graph.get(node, "nodes_modes")
    if hasattr(stated, "dims"):
        return [int(mode) if mode < len(_MODES) else -1 for mode in numpy_helper.to_array(stated)]
    return [_MODES.index(mode) if mode in _MODES else -1 for mode in stated or ()]


def _inner(graph: Graph, node: NodeProto) -> Array:
    """Places of the nodes that branch."""
    return np.flatnonzero(np.asarray(_modes(graph, node)) >= 0)


def _root(graph: Graph, node: NodeProto) -> int:
    """Place of the first root that branches, which every row passes."""
    inner = _inner(graph, node)
    if node.op_type == "TreeEnsemble":
        first = graph.get(node, "tree_roots", [])
    else:
        first = np.unique(graph.get(node, "nodes_treeids", []), return_index=True)[1]
    roots = np.intersect1d(first, inner)
    return int(roots[0] if roots.size else inner[0])


def _is_whole(graph: Graph, node: NodeProto) -> bool:
    """Whether it has a node that branches, and the tables of thresholds and of leaves."""
    tables = (_numbers(graph, node, name) for name in _tables(node))
    return bool(_inner(graph, node).size) and all(table.size for table in tables)


def _ensembles(mutation: str, fits: Callable[[Graph, NodeProto], bool]) -> Callable[[Graph], Iterable[NodeProto]]:
    def sites(graph: Graph) -> Iterable[NodeProto]:
        return [node for node in graph.open_to(mutation) if _is_whole(graph, node) and fits(graph, node)]

    return sites


def _coarse(graph: Graph, node: NodeProto, name: str) -> Array:
    return rounded(_numbers(graph, node, name), "fp16")


def _rounds_thresholds(graph: Graph, node: NodeProto) -> bool:
    name = _tables(node).thresholds
    return not np.array_equal(_coarse(graph, node, name), _numbers(graph, node, name))


def _rounds_leaves(graph: Graph, node: NodeProto) -> bool:
    name = _tables(node).leaves
    return not np.array_equal(_coarse(graph, node, name), _numbers(graph, node, name))


def _round_thresholds(graph: Graph, node: NodeProto, distance: float) -> None:
    _store(graph, node, _tables(node).thresholds, _coarse(graph, node, _tables(node).thresholds))


def _round_leaves(graph: Graph, node: NodeProto, distance: float) -> None:
    _store(graph, node, _tables(node).leaves, _coarse(graph, node, _tables(node).leaves))


def _next_threshold(graph: Graph, node: NodeProto, distance: float) -> None:
    """That of the root, which is then the threshold of the next node."""
    name = _tables(node).thresholds
    numbers, inner, root = _numbers(graph, node, name).copy(), _inner(graph, node), _root(graph, node)
    numbers[root] = next(numbers[place] for place in (*inner[inner > root], *inner) if numbers[place] != numbers[root])
    _store(graph, node, name, numbers)


def _has_thresholds(graph: Graph, node: NodeProto) -> bool:
    return np.unique(_numbers(graph, node, _tables(node).thresholds)[_inner(graph, node)]).size > 1


def _drop_leaf(graph: Graph, node: NodeProto, distance: float) -> None:
    """The largest in size."""
    name = _tables(node).leaves
    numbers = _numbers(graph, node, name).copy()
    numbers[int(np.argmax(np.abs(numbers)))] = 0
    _store(graph, node, name, numbers)


def _drop_tree(graph: Graph, node: NodeProto, distance: float) -> None:
    name = _tables(node).leaves
    numbers = _numbers(graph, node, name).copy()
    numbers[_last_leaves(graph, node)] = 0
    _store(graph, node, name, numbers)


def _last_leaves(graph: Graph, node: NodeProto) -> list[int]:
    """Places of the leaves of the last tree."""
    if node.op_type != "TreeEnsemble":
        trees = list(graph.get(node, f"{_tables(node).leaves.partition('_')[0]}_treeids", []))
        return [place for place, tree in enumerate(trees) if tree == graph.get(node, "nodes_treeids")[-1]]
    leaves, pending, seen = set(), [(graph.get(node, "tree_roots")[-1], 0)], set()
    names = (("nodes_truenodeids", "nodes_trueleafs"), ("nodes_falsenodeids", "nodes_falseleafs"))
    branches = [(graph.get(node, targets), graph.get(node, flags)) for targets, flags in names]
    while pending:
        place, is_leaf = pending.pop()
        if is_leaf:
            leaves.add(place)
        elif place not in seen:
            seen.add(place)
            pending += [(targets[place], flags[place]) for targets, flags in branches]
    return sorted(leaves)


def _has_last_tree(graph: Graph, node: NodeProto) -> bool:
    return bool(np.any(_numbers(graph, node, _tables(node).leaves)[_last_leaves(graph, node)]))


def _shift_leaves(graph: Graph, node: NodeProto, distance: float) -> None:
    _store(graph, node, _tables(node).leaves, np.roll(_numbers(graph, node, _tables(node).leaves), 1))


def _has_leaves(graph: Graph, node: NodeProto) -> bool:
    return bool(np.any(_numbers(graph, node, _tables(node).leaves)))


def _has_many_leaves(graph: Graph, node: NodeProto) -> bool:
    return np.unique(_numbers(graph, node, _tables(node).leaves)).size > 1


def _other_feature(graph: Graph, node: NodeProto, distance: float) -> None:
    """The root reads what another node reads."""
    features, root = list(graph.get(node, "nodes_featureids", [])), _root(graph, node)
    features[root] = next(features[place] for place in _inner(graph, node) if features[place] != features[root])
    graph.set(node, "nodes_featureids", features)


def _has_features(graph: Graph, node: NodeProto) -> bool:
    return np.unique(np.asarray(graph.get(node, "nodes_featureids", []))[_inner(graph, node)]).size > 1


def _strictness(graph: Graph, node: NodeProto, distance: float) -> None:
    modes = [_STRICT.get(mode, mode) for mode in _modes(graph, node)]
    stated = graph.get(node, "nodes_modes")
    if hasattr(stated, "dims"):
        kept = numpy_helper.to_array(stated)
        changed = [new if new >= 0 else old for new, old in zip(modes, kept, strict=True)]
        graph.set(node, "nodes_modes", numpy_helper.from_array(np.asarray(changed, kept.dtype), stated.name))
        return
    graph.set(node, "nodes_modes", [_MODES[new] if new >= 0 else old for new, old in zip(modes, stated, strict=True)])


def _is_ordered(graph: Graph, node: NodeProto) -> bool:
    return any(mode in _STRICT for mode in _modes(graph, node))


def _swap_branches(graph: Graph, node: NodeProto, distance: float) -> None:
    """Of the root."""
    root = _root(graph, node)
    pairs = [("nodes_truenodeids", "nodes_falsenodeids")]
    pairs += [("nodes_trueleafs", "nodes_falseleafs")] if node.op_type == "TreeEnsemble" else []
    for pair in pairs:
        yes, no = (list(graph.get(node, name, [])) for name in pair)
        yes[root], no[root] = no[root], yes[root]
        graph.set(node, pair[0], yes)
        graph.set(node, pair[1], no)


def _any(graph: Graph, node: NodeProto) -> bool:
    return True


def _has_base(graph: Graph, node: NodeProto) -> bool:
    return bool(np.any(_numbers(graph, node, "base_values")))


def _drop_base(graph: Graph, node: NodeProto, distance: float) -> None:
    _store(graph, node, "base_values", np.zeros_like(_numbers(graph, node, "base_values")))


def _operator(
    name: str,
    stands_for: str,
    fits: Callable[[Graph, NodeProto], bool],
    apply: Callable[[Graph, NodeProto, float], Any],
) -> MutationOperator:
    return MutationOperator(name, stands_for, _ensembles(name, fits), apply)


OPERATORS = (
    _operator("fp16-thresholds", "thresholds of trees stored with half precision", _rounds_thresholds, _round_thresholds),
    _operator("neighbour-threshold", "the threshold of a root read from another node", _has_thresholds, _next_threshold),
    _operator("strict-branches", "below taken for at most, and above for at least", _is_ordered, _strictness),
    _operator("swap-branches", "the two branches of a root exchanged", _any, _swap_branches),
    _operator("neighbour-feature", "the feature of a root read from another node", _has_features, _other_feature),
    _operator("fp16-leaves", "leaves of trees stored with half precision", _rounds_leaves, _round_leaves),
    _operator("drop-leaf", "one leaf lost: its weight is zero", _has_leaves, _drop_leaf),
    _operator("drop-last-tree", "the last tree left out by a loop that ends too early", _has_last_tree, _drop_tree),
    _operator("shift-leaves", "leaves read from the neighbouring one", _has_many_leaves, _shift_leaves),
    _operator("drop-base-value", "the base value of a sum over trees lost", _has_base, _drop_base),
)  # fmt: skip

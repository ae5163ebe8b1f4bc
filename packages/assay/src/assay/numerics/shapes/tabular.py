"""Models of rows of features."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.constraint import ConstraintCode
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, plain
from assay.numerics.shapes.values import Node, Value


def tabular(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    """Of a model that takes a table, a row for each item."""
    shape = inputs[0].shape
    rows = shape[0] if shape else None
    if shape is not None and len(shape) == 2 and shape[1] is not None:
        features = _features(node)
        if features > shape[1] or (node.op.startswith("Linear") and features != shape[1]):
            raise Conflict(ConstraintCode.MODEL_TAKES_FEATURES, (shape[1], features), size=shape[1], wanted=features)
    if node.op.endswith("Classifier"):
        return [Value((rows,)), Value((rows, None))]
    return plain((rows, node.attributes.get("n_targets", node.attributes.get("targets", 1))))


def _features(node: Node) -> int:
    """How many an ensemble of trees or a linear model looks at, at least; 0 where it does not say."""
    ids = node.attributes.get("nodes_featureids")
    if ids:
        return int(max(ids)) + 1
    targets = len(node.attributes.get("intercepts") or ()) or node.attributes.get("targets", 1)
    count = len(node.attributes.get("coefficients") or ())
    return count // max(targets, 1) if node.op.startswith("Linear") else 0

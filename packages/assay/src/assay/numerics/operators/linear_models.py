"""Linear models and support vector machines of ai.onnx.ml, and what scales their inputs.

Features come unrounded; scores are sums in any order; a transform of scores passes their error on by its derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.numerics.attributes import stated
from assay.numerics.operators.record import LEARNING, OnnxOperator, alike
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import Demands, Need, size_of
from assay.numerics.shapes.tabular import tabular
from assay.numerics.shapes.values import Node, Value
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import RuleSite, Variance, fallback, fused, rounding, text_of
from assay.numerics.tolerance.rules.sums import total
from assay.ports import Tensor


def normalized(site: RuleSite, unit: Arithmetic) -> Variance:
    """A row by its largest element, or by a sum of terms of one sign."""
    terms = 0.0 if text_of(stated(site.call.attributes, "norm", "MAX")) == "MAX" else float(np.shape(site.value)[-1])
    return (unit.accumulate**2 * (terms / 9 + 2) + unit.storage**2 / 3) * np.square(site.value)


def linear(site: RuleSite, unit: Arithmetic) -> Variance:
    """x C' + intercepts, and the transform of that."""
    attributes, x = site.call.attributes, _rows(site)
    weights = np.asarray(attributes["coefficients"], np.float64).reshape(-1, x.shape[1])
    bias = np.zeros(len(weights)) if not attributes.get("intercepts") else np.asarray(attributes["intercepts"])
    squares = np.square(x) @ np.square(weights).T + np.square(bias)
    array = total(x.shape[1] + 1.0, x @ weights.T + bias, squares, unit)
    return _passed_on(site, unit, array, attributes.get("post_transform"))


def regression(site: RuleSite, unit: Arithmetic) -> Variance:
    """A sum of kernels; of the sign that tells one class from the rest nothing is said."""
    attributes, x = site.call.attributes, _rows(site)
    if attributes.get("one_class"):
        return fallback(site, unit)
    count = int(attributes.get("n_supports") or 0)
    weights = np.asarray(attributes["coefficients"], np.float64)
    vectors = np.asarray(attributes["support_vectors"] if count else weights, np.float64).reshape(-1, x.shape[1])
    near, own = kernels(x, vectors, attributes if count else {}, unit)
    weights = weights[:, None] if count else np.ones((1, 1))
    offset = float((stated(attributes, "rho", [0.0]))[0])
    array = own @ np.square(weights) + total(
        len(vectors) + 1.0, near @ weights + offset, np.square(near) @ np.square(weights) + offset**2, unit
    )
    return _passed_on(site, unit, array, attributes.get("post_transform"))


def classification(site: RuleSite, unit: Arithmetic) -> Variance:
    """Sums of kernels for each two classes; their probabilities are steeper by the slope of the calibration."""
    attributes, x = site.call.attributes, _rows(site)
    weights = np.asarray(attributes["coefficients"], np.float64)
    supports = attributes.get("support_vectors")
    vectors = np.asarray(supports or weights, np.float64).reshape(-1, x.shape[1])
    near, own = kernels(x, vectors, attributes if supports else {}, unit)
    largest = np.square(weights).reshape(-1, len(vectors)).max(axis=0) if supports else np.ones(len(vectors))
    offset = float(np.square(np.asarray(stated(attributes, "rho", [0.0]), np.float64)).max())
    sums = np.square(near) @ largest + offset
    variance = (own @ largest + total(len(vectors) + 1.0, np.sqrt(sums), sums, unit))[:, None]
    slopes = attributes.get("prob_a")
    if slopes:
        steepest = float(np.square(np.asarray(slopes, np.float64)).max()) / 4
        return np.broadcast_to(variance * steepest + 64 * unit.accumulate**2 / 3, site.value.shape)
    return _passed_on(site, unit, variance, attributes.get("post_transform"))


def kernels(x: Tensor, vectors: Tensor, attributes: Mapping[str, Any], unit: Arithmetic) -> tuple[Tensor, Tensor]:
    """Each row with each vector (rows, vectors), and the variance of that."""
    from assay.numerics.oracle.learning import kernel_of

    kind, parameters = text_of(stated(attributes, "kernel_type", "LINEAR")), attributes.get("kernel_params")
    near = kernel_of(x, vectors, kind, parameters)
    gamma, offset, degree = (*(parameters or ()), 0.0, 0.0, 0.0)[:3]
    own = 16 * unit.accumulate**2 / 3
    if kind == "RBF":
        distance = np.square(x[:, None] - vectors[None]).sum(axis=-1) * gamma
        return near, np.square(near) * (own + unit.accumulate**2 * (x.shape[1] / 9 + 2) * np.square(distance))
    product = total(float(x.shape[1]), x @ vectors.T, np.square(x) @ np.square(vectors).T, unit)
    if kind == "LINEAR":
        return near, product
    inner = x @ vectors.T * gamma
    inside = gamma**2 * product + unit.accumulate**2 / 3 * (np.square(inner) + np.square(inner + offset))
    slope = 1 - np.square(near) if kind == "SIGMOID" else degree * (inner + offset) ** (degree - 1)
    return near, np.square(slope) * inside + own * (1.0 if kind == "SIGMOID" else np.square(near))


def _rows(site: RuleSite) -> Tensor:
    return np.atleast_2d(np.asarray(site.call.inputs[0], np.float64))


def _passed_on(site: RuleSite, unit: Arithmetic, scores: Tensor, transform: Any) -> Variance:
    """The variance of scores through their transform, by what it gave. Two scores may be made of one."""
    z, kind = np.asarray(site.value, np.float64), text_of(transform or "NONE")
    if scores.shape != z.shape:
        scores = np.broadcast_to(scores.max(axis=-1, keepdims=True), z.shape)
    if kind == "NONE":
        return scores + rounding(site, unit)
    own = 16 * unit.accumulate**2 / 3 * np.square(z) + rounding(site, unit)
    match kind:
        case "LOGISTIC":
            return np.square(z * (1 - z)) * scores + own
        case "SOFTMAX" | "SOFTMAX_ZERO":
            others = (np.square(z) * scores).sum(axis=-1, keepdims=True) - np.square(z) * scores
            return np.square(z) * (np.square(1 - z) * scores + others) + own
        case _:
            with np.errstate(over="ignore"):
                return 2 * np.pi * np.exp(np.square(z)) * scores + own


def _near_support_vectors_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """A Gaussian kernel is 0 far from all that it was trained on, and the answer a constant: values of the size of a typical feature."""
    features = size_of(inputs, 0, -1)
    vectors = np.asarray(node.attributes.get("support_vectors", ()), np.float64)
    kernel = node.attributes.get("kernel_type", "LINEAR")
    if kernel in ("RBF", b"RBF") and features and vectors.size and vectors.size % features == 0:
        table = vectors.reshape(-1, features)
        yield 0, Need(float(np.median(table.min(0))), float(np.median(table.max(0))))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("LinearRegressor LinearClassifier", domain=LEARNING, rounding=linear, reference="learning", shape=tabular),
    *alike(
        "SVMRegressor",
        domain=LEARNING,
        rounding=regression,
        reference="learning",
        shape=tabular,
        ranges=_near_support_vectors_ranges,
    ),
    *alike(
        "SVMClassifier",
        domain=LEARNING,
        rounding=classification,
        reference="learning",
        shape=tabular,
        ranges=_near_support_vectors_ranges,
    ),
    *alike("Scaler", domain=LEARNING, rounding=fused, reference="learning", shape=same_shape),
    *alike("Normalizer", domain=LEARNING, rounding=normalized, reference="learning", shape=same_shape),
)

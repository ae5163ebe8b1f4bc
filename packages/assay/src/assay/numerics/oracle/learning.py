"""Operators of ai.onnx.ml on real numbers. Their answers are float32 by the schema, whatever goes in; onnx.reference 1.23 gives the
type of the input, computes with whole numbers where those go in, and goes through trees and vectors element by element."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.aionnxml.op_dict_vectorizer import DictVectorizer as _DictVectorizer
from onnx.reference.ops.aionnxml.op_feature_vectorizer import FeatureVectorizer as _FeatureVectorizer
from onnx.reference.ops.aionnxml.op_label_encoder import LabelEncoder as _LabelEncoder
from onnx.reference.ops.aionnxml.op_linear_classifier import LinearClassifier as _LinearClassifier
from onnx.reference.ops.aionnxml.op_svm_classifier import SVMClassifier as _SVMClassifier

from assay.numerics.attributes import stated
from assay.numerics.oracle.scores import Real, post_transformed
from assay.ports import Tensor


class Scaler(Real):
    """(x - offset) * scale."""

    def _run(self, x: Tensor, offset: Any = None, scale: Any = None) -> tuple[Tensor]:
        wide = x.astype(np.float64)
        return (self.given((wide - np.asarray(offset or 0.0)) * np.asarray(scale or 1.0), x),)


class Normalizer(Real):
    """Each row by its largest element, or the sum of magnitudes, or the root of the sum of squares; by nothing where that is 0."""

    def _run(self, x: Tensor, norm: Any = "MAX") -> tuple[Tensor]:
        rows = x.astype(np.float64).reshape(1, -1) if x.ndim == 1 else x.astype(np.float64)
        by = {
            "MAX": lambda: np.max(rows, axis=1, keepdims=True),
            "L1": lambda: np.abs(rows).sum(axis=1, keepdims=True),
            "L2": lambda: np.sqrt(np.square(rows).sum(axis=1, keepdims=True)),
        }[norm]()
        return (self.given((rows / np.where(by == 0, 1.0, by)).reshape(x.shape), x),)


class LinearRegressor(Real):
    """x C' + intercepts."""

    def _run(
        self, x: Tensor, coefficients: Any = None, intercepts: Any = None, targets: int = 1, post_transform: Any = None
    ) -> tuple[Tensor]:
        score = np.atleast_2d(x).astype(np.float64) @ np.asarray(coefficients, np.float64).reshape(targets, -1).T
        score = score if intercepts is None else score + np.asarray(intercepts)
        return (self.given(post_transformed(score, post_transform), x),)


class LinearClassifier(Real, _LinearClassifier):
    """As onnx.reference has it, in double, and the label that of the largest score before any transform of scores."""

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor, Tensor]:
        rows = np.atleast_2d(x).astype(np.float64)
        labels, raw = _LinearClassifier._run(self, rows, **{**attributes, "post_transform": "NONE"})
        scores = post_transformed(np.asarray(raw, np.float64), attributes.get("post_transform"))
        return _labels(labels, attributes), self.given(scores, x)


class SVMRegressor(Real):
    """Sum of coefficients times kernels, and rho; a sign of it where one class is told from all others."""

    def _run(
        self,
        x: Tensor,
        coefficients: Any = None,
        kernel_params: Any = None,
        kernel_type: Any = "LINEAR",
        n_supports: int = 0,
        one_class: int = 0,
        post_transform: Any = None,
        rho: Any = None,
        support_vectors: Any = None,
        **_: Any,
    ) -> tuple[Tensor]:
        rows, weights = np.atleast_2d(x).astype(np.float64), np.asarray(coefficients, np.float64)
        vectors = np.asarray(support_vectors, np.float64).reshape(n_supports, -1) if n_supports else weights[None]
        near = kernel_of(rows, vectors, kernel_type if n_supports else "LINEAR", kernel_params)
        score = (near @ weights if n_supports else near[:, 0]) + float((rho or [0.0])[0])
        array = np.where(score > 0, 1.0, -1.0) if one_class else score
        return (self.given(post_transformed(array[:, None], post_transform), x),)


class SVMClassifier(Real, _SVMClassifier):
    """As onnx.reference has it, in double, all vectors at once, and with labels that are text."""

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor, Tensor]:
        names = attributes.get("classlabels_strings")
        if names:
            attributes = {**attributes, "classlabels_strings": None, "classlabels_ints": list(range(len(names)))}
        labels, scores = _SVMClassifier._run(self, np.atleast_2d(x).astype(np.float64), **attributes)
        labels = np.array([names[label] for label in labels], object) if names else labels
        return labels, self.given(scores, x)

    def _run_svm(
        self, x: Tensor, vectors: Tensor, _: int, kernel: str, classes: int, starts: Any, weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        model: Any = self._svm.atts
        near = kernel_of(x[None], vectors.astype(np.float64), kernel, model.kernel_params)[0]
        parts = [slice(first, first + int(size)) for first, size in zip(starts, model.vectors_per_class, strict=True)]
        votes: Tensor = np.zeros(classes)
        scores: list[float] = []
        for i in range(classes):
            for j in range(i + 1, classes):
                decision = weights[j - 1, parts[i]] @ near[parts[i]] + weights[i, parts[j]] @ near[parts[j]]
                scores.append(decision + float(model.rho[len(scores)]))
                votes[i if scores[-1] > 0 else j] += 1
        return votes, np.array(scores)

    def _probabilities(self, scores: Tensor, classes: int) -> Tensor:
        model: Any = self._svm.atts
        logits = np.clip(scores * model.prob_a + model.prob_b, -700.0, 700.0)
        pairs = np.zeros((classes, classes))
        upper = np.triu_indices(classes, 1)
        pairs[upper] = np.clip(1 / (1 + np.exp(logits)), 1e-7, 1 - 1e-7)
        pairs.T[upper] = 1 - pairs[upper]
        return coupled(pairs)


def coupled(pairs: Tensor) -> Tensor:
    """Probabilities of k classes from those of each against each other (k, k), by iteration until they fit to 0.005 / k.

    Method 2 of Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling" (JMLR 5, 2004), as libsvm
    has it. onnx.reference 1.23.2 takes a product of vectors where the method has one of elements, which differs from three classes on.
    """
    count = len(pairs)
    off = -pairs.T * pairs
    np.fill_diagonal(off, 0.0)
    system = off + np.diag((pairs.T**2).sum(axis=1))
    answer: Tensor = np.full(count, 1.0 / count)
    for _ in range(max(100, count)):
        fit = system @ answer
        energy = float(answer @ fit)
        if np.abs(fit - energy).max() < 0.005 / count:
            break
        for t in range(count):
            step = (energy - fit[t]) / system[t, t]
            answer[t] += step
            energy = (energy + step * (step * system[t, t] + 2 * fit[t])) / (1 + step) ** 2
            fit = (fit + step * system[t]) / (1 + step)
            answer /= 1 + step
    return answer


def kernel_of(rows: Tensor, vectors: Tensor, kind: str, parameters: Any) -> Tensor:
    """(rows, vectors): each row with each vector."""
    gamma, offset, degree = (*(parameters or ()), 0.0, 0.0, 0.0)[:3]
    if kind == "RBF":
        return np.asarray(np.exp(-gamma * np.square(rows[:, None] - vectors[None]).sum(axis=-1)))
    product = rows @ vectors.T
    if kind == "LINEAR":
        return np.asarray(product)
    product = product * gamma + offset
    return np.asarray(np.tanh(product) if kind == "SIGMOID" else product ** int(degree))


class FeatureVectorizer(Real, _FeatureVectorizer):
    """Columns side by side, cut or filled with zeros to their declared widths."""

    def _run(self, *inputs: Tensor, inputdimensions: Any = None) -> tuple[Tensor]:
        (features,) = _FeatureVectorizer._run(self, *inputs, inputdimensions=inputdimensions)
        return (self.given(features, inputs[0]),)


class DictVectorizer(Real, _DictVectorizer):
    """One row: what the map has for each word of the vocabulary. Maps hold float32, or what a model declares."""

    def _run(self, x: Any, int64_vocabulary: Any = None, string_vocabulary: Any = None) -> tuple[Tensor]:
        maps = [x] if isinstance(x, dict) else list(x)
        words = string_vocabulary or int64_vocabulary
        values = [[mapping.get(word, "" if _holds_text(mapping) else 0) for word in words] for mapping in maps]
        kind: Any = np.float64 if self.one_type else np.float32
        return (np.array(values, object if _holds_text(maps[0]) else kind),)


def _holds_text(attributes: Any) -> bool:
    return any(isinstance(value, str) for value in attributes.values())


class LabelEncoder(_LabelEncoder):
    """LabelEncoder-1 has one list of classes, whose places are their numbers."""

    op_domain = "ai.onnx.ml"

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor]:
        classes = attributes.pop("classes_strings", None)
        if classes is None:
            answer: tuple[Tensor] = super()._run(x, **attributes)
            return answer
        flat = np.asarray(x).reshape(-1)
        if x.dtype.kind in "iu":
            other = stated(attributes, "default_string", "_Unused")
            names = [classes[number] if 0 <= number < len(classes) else other for number in flat]
            return (np.array(names, object).reshape(x.shape),)
        places = {name: place for place, name in enumerate(classes)}
        missing = attributes.get("default_int64")
        return (
            np.array([places.get(str(value), -1 if missing is None else missing) for value in flat], np.int64).reshape(
                x.shape
            ),
        )


class CategoryMapper(OpRun):
    """Words to numbers, or numbers to words, by two lists beside each other."""

    op_domain = "ai.onnx.ml"

    def _run(
        self,
        x: Tensor,
        cats_int64s: Any = None,
        cats_strings: Any = None,
        default_int64: int = -1,
        default_string: str = "_Unused",
    ) -> tuple[Tensor]:
        if x.dtype.kind in "iu":
            words = dict(zip(cats_int64s, cats_strings, strict=True))
            return (
                np.array([words.get(int(text), default_string) for text in x.reshape(-1)], object).reshape(x.shape),
            )
        numbers = dict(zip(cats_strings, cats_int64s, strict=True))
        return (np.array([numbers.get(str(text), default_int64) for text in x.reshape(-1)], np.int64).reshape(x.shape),)


def _labels(labels: Any, attributes: Any) -> Tensor:
    return np.asarray(labels).astype(object if attributes.get("classlabels_strings") else np.int64)

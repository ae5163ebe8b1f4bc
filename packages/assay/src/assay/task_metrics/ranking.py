"""Same answer of a ranking: the same order, and the same candidates on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import joined, label, option, output_of

TOP = 10
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def ranking(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics of output `output` (N, K): each row scores the K candidates of one query, more is better.

    rank_agreement: mean over queries of Kendall's tau-b with the reference's scores (Kendall 1945), NaN for a query of one candidate or
    of equal scores. top10_agreement: share of the reference's ten best that are among the engine's ten best. Label `label` ("relevance",
    (N, K)) says how relevant each candidate is, 0 for not: ndcg10 is the normalized discounted cumulative gain of the ten best with gains
    2^r - 1 (Burges et al. 2005), or r itself where `gains` is "linear" (Jarvelin and Kekalainen 2002); candidates of equal scores share
    what their ranks gain (McSherry and Najork 2008). mrr is the mean of one over the rank of the first relevant one. A query without any
    is left out.
    """
    name = output_of(options, expected)
    ours, theirs = _scores(joined(actual, name), name), _scores(joined(expected, name), name)
    order, reference_order = _order(ours), _order(theirs)
    figures = {
        "rank_agreement": float(np.mean([_tau(our, other) for our, other in zip(ours, theirs, strict=True)])),
        "top10_agreement": _common(order, reference_order),
    }
    truth = label(labels, option(options, "label", "relevance"), len(ours))
    if truth is not None:
        relevance = _relevance(truth, ours)
        gains = _gains(relevance, option(options, "gains", "exponential"))
        figures["ndcg10"] = _ndcg(ours, gains)
        figures["mrr"] = _mrr(order, relevance)
        figures["expected_ndcg10"] = _ndcg(theirs, gains)
    return figures


def _scores(tensor: Tensor, name: str) -> Matrix:
    if tensor.ndim < 2 or not tensor.size:
        raise UsageError(noted(TaskMetricCode.NO_CANDIDATES, output=name, shape=tensor.shape))
    return np.asarray(tensor, np.float64).reshape(len(tensor), -1)


def _relevance(truth: Tensor, scores: Matrix) -> Matrix:
    relevance = np.asarray(truth, np.float64).reshape(len(scores), -1)
    if relevance.shape != scores.shape:
        raise UsageError(noted(TaskMetricCode.CANDIDATE_COUNT, labelled=relevance.shape[1], candidates=scores.shape[1]))
    if not (np.isfinite(relevance) & (relevance >= 0)).all():
        raise UsageError(noted(TaskMetricCode.NO_RELEVANCE))
    return relevance


def _order(scores: Matrix) -> Tensor:
    """Of each query the candidates, best first; of equal ones the earlier first."""
    return np.argsort(-scores, axis=1, kind="stable")


def _tau(tensor: Tensor, other: Tensor) -> float:
    ours, theirs = (np.sign(row[:, None] - row[None, :]) for row in (tensor, other))
    untied = float(np.sqrt((ours**2).sum() * (theirs**2).sum()))
    return float((ours * theirs).sum() / untied) if untied else float("nan")


def _common(order: Tensor, reference_order: Tensor) -> float:
    tops = zip(order[:, :TOP], reference_order[:, :TOP], strict=True)
    return float(np.mean([len(np.intersect1d(ours, theirs)) / len(theirs) for ours, theirs in tops]))


def _gains(relevance: Matrix, kind: str) -> Matrix:
    return relevance if kind == "linear" else 2.0**relevance - 1.0


def _ndcg(scores: Matrix, gains: Matrix) -> float:
    most = _discounted(-np.sort(-gains, axis=1))
    gained = _discounted(np.array([_shared(*query) for query in zip(scores, gains, strict=True)]))
    relevant = most > 0
    return float(np.mean(gained[relevant] / most[relevant])) if relevant.any() else float("nan")


def _shared(scores: Tensor, gains: Tensor) -> Tensor:
    """What each rank gains, best first: of equal scores the mean of all that have it."""
    _, group, count = np.unique(-scores, return_inverse=True, return_counts=True)
    return np.repeat(np.bincount(group, gains) / count, count)


def _discounted(ranked: Matrix) -> Tensor:
    top = ranked[:, :TOP]
    return (top / np.log2(np.arange(2, top.shape[1] + 2))).sum(axis=1)  # type: ignore[no-any-return]


def _mrr(order: Tensor, relevance: Matrix) -> float:
    hits = np.take_along_axis(relevance, order, axis=1) > 0
    relevant = hits.any(axis=1)
    return float(np.mean(1.0 / (1.0 + hits[relevant].argmax(axis=1)))) if relevant.any() else float("nan")

"""Embeddings, rankings and regressions on answers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.errors import UsageError
from assay.task_metrics.scoring import score

Array = np.ndarray
NEAR = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32)
"""Two pairs of neighbours."""


def _of(task: str, actual: Array, expected: Array, **labels: Array) -> dict[str, float]:
    return score(task, [{"y": actual}], [{"y": expected}], labels, {})


def test_a_vector_that_turned_is_seen_in_its_cosine_and_its_neighbour() -> None:
    turned = NEAR.copy()
    turned[3] = [1, 1]  # 45 degrees: now the neighbour of the second row
    figures = _of("embedding", turned, NEAR, label=np.array([0, 0, 1, 1]))
    cosine = 1.1 / math.sqrt(2) / math.hypot(0.1, 1)
    assert figures["min_cosine_agreement"] == pytest.approx(cosine)
    assert figures["cosine_agreement"] == pytest.approx((3 + cosine) / 4)
    assert figures["neighbour_agreement"] == 0.75
    assert (figures["recall_at_1"], figures["expected_recall_at_1"]) == (0.75, 1.0)


def test_the_length_of_a_vector_says_nothing_and_zeros_have_no_direction() -> None:
    assert _of("embedding", 3 * NEAR, NEAR)["min_cosine_agreement"] == pytest.approx(1.0)
    dead = NEAR.copy()
    dead[0] = 0
    figures = _of("embedding", dead, NEAR)
    assert all(math.isnan(figures[name]) for name in ("min_cosine_agreement", "neighbour_agreement"))
    with pytest.raises(UsageError, match="needs vectors, and output 'y' has shape"):
        _of("embedding", NEAR[0], NEAR[0])


def test_two_neighbours_in_an_order_that_swapped() -> None:
    """Of three pairs one is swapped: tau is (2 - 1) / 3."""
    old, new = np.array([[3.0, 2.0, 1.0]]), np.array([[2.0, 3.0, 1.0]])
    figures = _of("ranking", new, old, relevance=np.array([[1, 0, 0]]))
    assert figures["rank_agreement"] == pytest.approx(1 / 3)
    assert figures["top10_agreement"] == 1.0
    measured = [figures[name] for name in ("mrr", "ndcg10", "expected_ndcg10")]
    assert measured == pytest.approx([0.5, 1 / math.log2(3), 1.0])


def test_another_candidate_among_the_ten_best_and_labels_that_do_not_fit() -> None:
    old = np.arange(20.0)[None]
    new = old.copy()
    new[0, [0, 10]] = new[0, [10, 0]]
    assert _of("ranking", new, old)["top10_agreement"] == 0.9
    assert math.isnan(_of("ranking", old, old, relevance=np.zeros((1, 20)))["mrr"])
    with pytest.raises(UsageError, match="the label has 3 candidates for each query and the output 20"):
        _of("ranking", old, old, relevance=np.zeros((1, 3)))


def test_numbers_that_are_off_in_their_own_unit() -> None:
    old, new = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0])
    figures = _of("regression", new, old, target=np.array([[1.0], [2.0], [4.0]]))
    assert figures["mean_absolute_difference"] == pytest.approx(2 / 3)
    assert figures["max_absolute_difference"] == 2.0
    assert figures["r2_agreement"] == pytest.approx(1 - 4 / 2)
    assert [figures[name] for name in ("mae", "rmse")] == pytest.approx([1 / 3, math.sqrt(1 / 3)])
    assert [figures[name] for name in ("r2", "expected_mae")] == pytest.approx([1 - 1 / (14 / 3), 1 / 3])
    assert math.isnan(_of("regression", old, np.ones(3))["r2_agreement"])
    with pytest.raises(UsageError, match="give one number for each"):
        _of("regression", old, old, target=np.zeros((3, 2)))

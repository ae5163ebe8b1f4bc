"""Task metrics beside what scikit-learn and SciPy make of the same numbers, with ties, single rows of a class, and unlabelled pixels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.flow import Option
from assay.errors import UsageError
from assay.task_metrics.scoring import score

Array = np.ndarray
SEEDS = range(5)


def _of(
    task: str, actual: Array, expected: Array, options: dict[str, Option] | None = None, **labels: Array
) -> dict[str, float]:
    return score(task, [{"y": actual}], [{"y": expected}], labels, options or {})


@pytest.mark.parametrize("seed", SEEDS)
def test_rankings_with_many_equal_scores(seed: int) -> None:
    from scipy.stats import kendalltau
    from sklearn.metrics import ndcg_score

    random = np.random.default_rng(seed)
    ours, theirs = random.integers(0, 6, (2, 20, 30)).astype(np.float64)
    relevance = random.integers(0, 4, (20, 30))
    figures = _of("ranking", ours, theirs, relevance=relevance)
    linear = _of("ranking", ours, theirs, {"gains": "linear"}, relevance=relevance)
    assert linear["ndcg10"] == pytest.approx(ndcg_score(relevance, ours, k=10))
    assert figures["ndcg10"] == pytest.approx(ndcg_score(2.0**relevance - 1, ours, k=10))
    assert figures["expected_ndcg10"] == pytest.approx(ndcg_score(2.0**relevance - 1, theirs, k=10))
    taus = [kendalltau(our, other).statistic for our, other in zip(ours, theirs, strict=True)]
    assert figures["rank_agreement"] == pytest.approx(np.mean(taus))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", [(40,), (40, 1), (40, 3)])
def test_regressions_of_columns_with_units_of_their_own(seed: int, shape: tuple[int, ...]) -> None:
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    random = np.random.default_rng(seed)
    unit, offset = 10.0 ** np.arange(shape[-1] if len(shape) > 1 else 1), 1e3
    target = random.normal(size=shape) * unit + offset * unit
    ours = target + random.normal(size=shape) * unit * 0.3
    figures = _of("regression", ours, target, target=target)
    values_here = [figures[name] for name in ("mae", "r2", "r2_agreement")]
    assert values_here == pytest.approx([mean_absolute_error(target, ours), *[r2_score(target, ours)] * 2])
    if len(shape) == 1 or shape[1] == 1:
        assert figures["rmse"] == pytest.approx(root_mean_squared_error(target, ours))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unlabelled", [255, -1])
def test_segmentations_with_pixels_that_nobody_labelled(seed: int, unlabelled: int) -> None:
    from sklearn.metrics import jaccard_score

    random = np.random.default_rng(seed)
    ours, theirs = random.normal(size=(2, 3, 5, 8, 8)).astype(np.float32)
    mask = random.integers(0, 4, (3, 8, 8))  # class 4 is only found
    mask[:, :2] = unlabelled
    figures = _of("segmentation", ours, theirs, mask=mask)
    is_labelled = mask != unlabelled
    wanted = jaccard_score(
        mask[is_labelled], ours.argmax(axis=1)[is_labelled], labels=range(5), average=None, zero_division=0.0
    )
    assert [figures[f"iou_class{index}"] for index in range(5)] == pytest.approx(wanted)
    assert figures["mean_iou"] == pytest.approx(np.mean(wanted))


def test_one_channel_has_a_threshold_and_whole_numbers_are_classes() -> None:
    from sklearn.metrics import jaccard_score

    random = np.random.default_rng(7)
    ours, theirs = random.normal(size=(2, 3, 1, 8, 8)).astype(np.float32)
    with pytest.raises(UsageError, match="one channel, in which every pixel would be of one class"):
        _of("segmentation", ours, theirs)
    mask = random.integers(0, 2, (3, 8, 8))
    figures = _of("segmentation", ours, theirs, {"threshold": 0}, mask=mask)
    assert figures["iou_class1"] == pytest.approx(jaccard_score(mask.ravel(), ours.ravel() > 0))
    assert figures["pixel_agreement"] == np.mean((ours > 0) == (theirs > 0)) < 1.0
    classes, wanted = (ours[:, 0] > 0).astype(np.int64), (theirs[:, 0] > 0).astype(np.int64)
    whole = _of("segmentation", classes, wanted, mask=mask)
    assert [whole[name] for name in ("pixel_agreement", "mean_iou", "iou_class1")] == [
        figures[name] for name in ("pixel_agreement", "mean_iou", "iou_class1")
    ]
    with pytest.raises(UsageError, match="give one for each pixel"):
        _of("segmentation", classes, wanted, mask=mask[:, :4])


@pytest.mark.parametrize("seed", SEEDS)
def test_classifications(seed: int) -> None:
    from scipy.stats import entropy
    from sklearn.metrics import top_k_accuracy_score

    random = np.random.default_rng(seed)
    ours, theirs = random.normal(size=(2, 40, 12))
    label = random.integers(0, 12, 40)
    figures = _of("classification", ours, theirs, label=label)
    for count in (1, 5):
        wanted = top_k_accuracy_score(label, ours, k=count, labels=range(12))
        assert figures[f"top{count}_accuracy"] == pytest.approx(wanted)
    powers = (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) for scores in (theirs, ours))
    assert figures["kl_divergence"] == pytest.approx(np.mean(entropy(*powers, axis=1)))
    with pytest.raises(UsageError, match="every row would have the same first choice"):
        _of("classification", ours[:, :1], theirs[:, :1])


@pytest.mark.parametrize("seed", SEEDS)
def test_embeddings_of_classes_some_of_which_have_one_row(seed: int) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    random = np.random.default_rng(seed)
    vectors, label = random.normal(size=(30, 8)), np.array([*random.integers(0, 4, 28), 8, 9])
    hits = []
    for row in range(28):
        others = np.delete(np.arange(30), row)
        nearest = KNeighborsClassifier(1, metric="cosine").fit(vectors[others], label[others])
        hits.append(nearest.predict(vectors[[row]])[0] == label[row])
    assert _of("embedding", vectors, vectors, label=label)["recall_at_1"] == pytest.approx(np.mean(hits))
    assert math.isnan(_of("embedding", vectors, vectors, label=np.arange(30))["recall_at_1"])

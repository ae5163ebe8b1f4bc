"""Goldens of a token: what is stored bounds the divergence on both sides, in whatever way another model errs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.numerics.token_sketch import MOST_BYTES, TOP, Sketcher, least_apart
from assay.ports import Tensor

VOCABULARY = 600
Random = np.random.Generator


def logs_of(logits: Tensor) -> Tensor:
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


def truth(right: Tensor, given: Tensor) -> float:
    error = right - given
    return float(np.exp(right) @ (error + np.expm1(-error)))


def _some(draw: Random, count: int) -> Tensor:
    return draw.choice(VOCABULARY, count, replace=False)


def _changed(draw: Random, logits: Tensor, picked: Tensor, size: float) -> Tensor:
    changed = logits.copy()
    changed[picked] += draw.normal(0, size, len(picked))
    return changed


ERRORS: dict[str, Callable[[Random, Tensor, float], Tensor]] = {
    "all": lambda draw, logits, size: logits + draw.normal(0, size, len(logits)),
    "one": lambda draw, logits, size: _changed(draw, logits, _some(draw, 1), 10 * size),
    "few": lambda draw, logits, size: _changed(draw, logits, _some(draw, 20), size),
    "tail": lambda draw, logits, size: _changed(draw, logits, np.argsort(-logits)[TOP:], size),
    "the least": lambda draw, logits, size: logits + size * (logits < np.quantile(logits, 0.3)),
    "one of the tail": lambda draw, logits, size: logits + 20 * size * (np.argsort(np.argsort(-logits)) == 400),
    "temperature": lambda draw, logits, size: logits / (1 + size),
    "swapped": lambda draw, logits, size: np.where(np.arange(len(logits)) % 7 == 0, np.roll(logits, 7), logits),
}


def outside(cases: int, seed: int) -> int:
    """How often the true divergence is not between the bounds."""
    draw, count = np.random.default_rng(seed), 0
    sketcher = Sketcher(VOCABULARY, seed=seed)
    for case in range(cases):
        if case % 500 == 0:
            sketcher = Sketcher(VOCABULARY, seed=seed + case)
        logits = draw.normal(0, draw.uniform(0.1, 5), VOCABULARY)
        error = [*ERRORS.values()][case % len(ERRORS)]
        right, given = logs_of(logits), logs_of(error(draw, logits, 10 ** draw.uniform(-7, 0.5)))
        low, high = sketcher.divergence(sketcher.sketch(right), given)
        seen = truth(right, given)
        count += not low * (1 - 1e-9) - 1e-15 <= seen <= high * (1 + 1e-9) + 1e-15
    return count


@pytest.mark.heavy
def test_the_true_divergence_is_between_the_bounds() -> None:
    assert outside(1_600, 5) == 0


@pytest.mark.slow
def test_the_true_divergence_is_between_the_bounds_in_100_000_cases() -> None:
    assert outside(100_000, 70) == 0


@pytest.mark.heavy
def test_who_knows_the_signs_hides_from_them() -> None:
    """The control: an error that no sum sees is missed, so the bound is one of chance, and the test above can fail."""
    sketcher, draw = Sketcher(VOCABULARY, seed=3), np.random.default_rng(4)
    right = logs_of(draw.normal(0, 0.5, VOCABULARY))
    rest = np.argsort(-right)[TOP:]
    signs = sketcher._signs[:, rest].astype(float)
    error = draw.normal(0, 0.2, len(rest))
    for _ in range(2):  # twice: rounding
        error -= np.linalg.lstsq(signs, signs @ error, rcond=None)[0]
    given = right.copy()
    given[rest] -= error
    top = np.delete(np.arange(VOCABULARY), rest)
    given[top] += np.log((1 - np.exp(given[rest]).sum()) / np.exp(right[top]).sum())
    _, high = sketcher.divergence(sketcher.sketch(right), given)
    assert truth(right, given) > 2 * high


def test_a_fault_of_the_tail_alone_is_seen_where_the_most_probable_see_none() -> None:
    sketcher, draw = Sketcher(VOCABULARY, seed=3), np.random.default_rng(4)
    right = logs_of(draw.normal(0, 0.5, VOCABULARY))
    rest = np.argsort(-right)[TOP:]
    given = right.copy()
    given[rest[0]], given[rest[9]] = right[rest[9]] - 1, right[rest[0]]
    given[rest[20]] = np.log(np.exp(right[rest]).sum() - np.exp(np.delete(given[rest], 20)).sum())
    golden = sketcher.sketch(right)
    low, high = sketcher.divergence(golden, given)
    assert low < 1e-12 < truth(right, given) < high
    assert sketcher.divergence(golden, right)[1] < 1e-8


@pytest.mark.parametrize("vocabulary", [100, 1_024, 50_000])
def test_a_golden_has_at_most_four_kilobytes(vocabulary: int) -> None:
    right = logs_of(np.random.default_rng(1).normal(0, 3, vocabulary))
    sketcher = Sketcher(vocabulary, seed=1)
    golden = sketcher.sketch(right)
    assert golden.size <= MOST_BYTES
    low, high = sketcher.divergence(golden, right)
    assert 0.0 <= low <= high < 1e-6
    broken = np.where(np.arange(vocabulary) == 50, np.nan, right)
    assert sketcher.divergence(golden, broken) == (np.inf, np.inf)


def test_what_two_sketches_are_apart_at_least_is_below_what_their_models_are() -> None:
    rng = np.random.default_rng(3)
    sketcher = Sketcher(1000, seed=1)
    for size in (0.0, 0.01, 1.0):
        row = rng.normal(size=1000)
        other = row + size * rng.normal(size=1000)
        row, other = (logits - np.log(np.exp(logits).sum()) for logits in (row, other))
        least = least_apart(sketcher.sketch(row), sketcher.sketch(other))
        true = float(np.exp(row) @ (row - other))
        assert 0.1 * true <= least + 1e-12 <= true + 2e-12, size


def test_a_token_that_has_become_probable_is_seen_however_improbable_it_was() -> None:
    sketcher = Sketcher(2, seed=1)
    golden = sketcher.sketch(np.array([0.0, -800.0]))
    assert sketcher.divergence(golden, np.log(np.array([0.5, 0.5])))[0] == pytest.approx(np.log(2.0))

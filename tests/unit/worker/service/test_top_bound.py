"""What the most probable tokens with the tail's mass can miss, in 100,000 random cases: the divergence that they show is a lower bound, so
that a fail is sound; a fault inside of the tail is not seen at all, so that a pass proves nothing of the tail."""

from __future__ import annotations

import numpy as np
import pytest

from assay.worker.service.places import _divergence

CASES, VOCABULARY = 100_000, 48
Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def _logs(scores: Rows) -> Rows:
    raised = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(raised - np.log(np.exp(raised).sum(axis=1, keepdims=True)))


def _drawn() -> tuple[Rows, Rows, list[int]]:
    """Models of every sharpness, and services that are off by anything from float32's noise to another model; how many tokens are named."""
    draw = np.random.default_rng(5)
    sharpness, off = 10 ** draw.uniform(-1, 1, (CASES, 1)), 10 ** draw.uniform(-7, 0.7, (CASES, 1))
    model = draw.normal(0, 1, (CASES, VOCABULARY)) * sharpness
    error = draw.normal(0, 1, (CASES, VOCABULARY)) * (draw.random((CASES, VOCABULARY)) < draw.random((CASES, 1)))
    return _logs(model), _logs(model + off * error), draw.integers(1, VOCABULARY, CASES).tolist()


@pytest.mark.heavy
def test_the_divergence_of_the_top_is_never_more_than_that_of_all() -> None:
    model, service, counts = _drawn()
    true = (np.exp(model) * (model - service)).sum(axis=1)
    shown = np.empty(CASES)
    for at, (logs, given, count) in enumerate(zip(model, service, counts, strict=True)):
        top = np.argpartition(-given, count)[:count]
        shown[at] = _divergence(dict(zip(top.tolist(), given[top].tolist(), strict=True)), logs)
    assert np.all(shown <= true * (1 + 1e-9) + 1e-13)  # what rounding of sums in double adds
    apart = true > 1e-6
    assert apart.sum() > 30_000
    assert np.median(shown[apart] / true[apart]) > 0.5


def test_a_fault_of_the_tail_alone_is_not_seen_whatever_its_size() -> None:
    model = _logs(np.arange(VOCABULARY, dtype=np.float64)[None, ::-1] * 0.05)
    swapped = model.copy()
    swapped[0, 8:] = model[0, 8:][::-1]
    top = dict(enumerate(swapped[0, :8].tolist()))
    assert float((np.exp(model) * (model - swapped)).sum()) > 0.3
    assert _divergence(top, model[0]) < 1e-12

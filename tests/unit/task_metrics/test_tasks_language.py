"""Figures of a language model: by hand on three tokens."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.schedules import NAMES, PADDED
from assay.errors import UsageError
from assay.task_metrics.scoring import score

HALF, SURE = np.log([0.5, 0.25, 0.25]), np.log([0.25, 0.25, 0.5])
LABELS = {
    "schedule": np.array([NAMES.index("whole"), NAMES.index("padding")]),
    "prefix": np.array([[[0, 1]], [[PADDED, 0]]]),
    "next_token": np.array([[[0, PADDED]], [[PADDED, 0]]]),
}


def _score(*calls: object, expected: object = None) -> dict[str, float]:
    actual = [{"logits": np.array([call], np.float32)} for call in calls]
    due = [{"logits": np.array([call])} for call in (calls if expected is None else expected)]  # type: ignore[attr-defined]
    return score("language", actual, due, LABELS, {})


def test_padding_is_left_out_and_the_worst_position_is_told() -> None:
    noise = np.array([9.0, 9.0, -9.0])
    same = _score([HALF, SURE], [noise, HALF], expected=([HALF, SURE], [-noise, HALF]))
    assert same["kl_max"] < 1e-12
    assert same["next_token_agreement"] == 1.0
    assert same["perplexity"] == pytest.approx(2.0)
    assert same["expected_perplexity"] == pytest.approx(2.0)
    assert same["schedule_kl_padding"] == 0.0
    off = _score([HALF, HALF], [noise, HALF], expected=([HALF, SURE], [noise, HALF]))
    kl = 0.25 * math.log(0.25 / 0.5) + 0.5 * math.log(0.5 / 0.25)
    assert off["kl_max"] == pytest.approx(kl)
    assert off["kl_mean"] == pytest.approx(kl / 3)
    assert off["next_token_agreement"] == pytest.approx(2 / 3)


def test_an_engine_that_answers_a_schedule_otherwise() -> None:
    figures = _score([HALF, SURE], [HALF, SURE], expected=([HALF, SURE], [HALF, HALF]))
    kl = 0.5 * math.log(0.5 / 0.25) + 0.25 * math.log(0.25 / 0.5)
    assert figures["schedule_kl_padding"] == pytest.approx(kl)


def test_logits_of_another_shape_are_named() -> None:
    with pytest.raises(UsageError, match="needs logits \\(batch, positions, vocabulary\\)"):
        score("language", [{"logits": np.zeros((1, 3))}], [{"logits": np.zeros((1, 3))}], {}, {})

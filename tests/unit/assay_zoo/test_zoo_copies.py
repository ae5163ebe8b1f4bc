"""Weights of another model are known again; tables that two models have both are not weights."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from assay_zoo.conflicts import copies_of
from assay_zoo.facts import largest_of
from assay_zoo.manifest import Accuracy, Entry, Version
from assay_zoo.unscaled_weights import unscaled

SCALES = np.geomspace(0.2, 5, 128, dtype=np.float32)[:, None]


def _weights(seed: int, *shape: int) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.02).astype(np.float32)


def _waves(rows: int, length: int) -> list[np.ndarray]:
    """As of a transform to frequencies: some are of the sine of pi."""
    angles = np.arange(rows)[:, None] * np.arange(length)[None] * 2 * np.pi / length
    window = np.hanning(length + 1)[:length]
    return [(wave * window)[:, None].astype(np.float32) for wave in (np.cos(angles), -np.sin(angles))]


def _turns() -> list[np.ndarray]:
    angles = np.outer(np.arange(512), 1 / 1e4 ** (np.arange(0, 64, 2) / 64))
    return [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]


def _levels(seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).integers(-7, 8, (256, 256)) * 0.01).astype(np.float32)


def _ternary(seed: int) -> np.ndarray:
    values = _weights(seed, 256, 256)
    return np.asarray(np.where(np.abs(values) < 0.013, 0, np.sign(values)) * _weights(seed + 9, 256, 1), np.float32)


def _is_copy(served: list[np.ndarray], submitted: list[np.ndarray]) -> bool:
    facts: list[dict[str, Any]] = []
    for arrays in (served, submitted):
        tensors = [numpy_helper.from_array(array, f"w{at}") for at, array in enumerate(arrays)]
        model = helper.make_model(helper.make_graph([], "g", [], [], tensors))
        facts.append({"largest": largest_of(model, Path()), "matrices": unscaled(arrays)})
    version = Version(
        version="1.0", digest="d", closure="c", title="t", license="MIT", scenario="s", promoted_at="", by="b",
        reason="r", decision="promote", files=(), opset=17, inputs=(), outputs=(), tags=(), performance={},
        accuracy=Accuracy(metric="m", claimed=1.0), **facts[0],
    )  # fmt: skip
    own = SimpleNamespace(closure="o", weights="", **facts[1])
    return bool(list(copies_of("own", {"other": Entry(current="1.0", versions=(version,))}, own)))


FIRST = _weights(1, 128, 256)
DECOY = (np.exp(np.random.default_rng(7).standard_normal((8, 16)) * 9) * 1e3).astype(np.float32)


@pytest.mark.parametrize(
    ("served", "submitted"),
    [
        ([FIRST], [FIRST, DECOY]),
        ([FIRST], [FIRST * SCALES, DECOY]),
        ([FIRST], [(FIRST * SCALES)[::-1, ::-1]]),
        ([FIRST], [(FIRST * SCALES).T]),
        ([FIRST], [(FIRST * SCALES).astype(np.float16)]),
        ([FIRST, FIRST], [FIRST * SCALES, FIRST * SCALES]),
    ],
)
def test_a_copy_asks_a_person(served: list[np.ndarray], submitted: list[np.ndarray]) -> None:
    assert _is_copy(served, submitted)


def test_a_copy_of_many_weights_asks_a_person() -> None:
    weights = _weights(3, 2100, 2100)
    assert _is_copy([weights], [weights * np.geomspace(0.2, 5, 2100, dtype=np.float32)])


@pytest.mark.parametrize(
    ("tables", "first", "second"),
    [
        (_waves(129, 256), _weights(1, 128, 129), _weights(2, 128, 129)),
        (_turns(), _weights(1, 128, 128), _weights(2, 128, 128)),
        ([np.triu(np.full((128, 128), -1e9, np.float32), 1)], _weights(1, 64, 64), _weights(2, 64, 64)),
        ([], *(np.random.default_rng(seed).random((256, 256), np.float32) for seed in (1, 2))),
        ([], _levels(1), _levels(2)),
        ([], _ternary(1), _ternary(2)),
        ([], _weights(1, 256, 1, 3, 3), _weights(2, 256, 1, 3, 3)),
    ],
)
def test_what_two_models_may_both_have_asks_nobody(
    tables: list[np.ndarray], first: np.ndarray, second: np.ndarray
) -> None:
    assert not _is_copy([*tables, first], [*tables, second])

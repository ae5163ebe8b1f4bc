"""Signals, losses, boxes, and what is random."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from oracle_table.case import OpCase
from oracle_table.gen import Gen, ints, one_int


def window(g: Gen) -> Iterator[OpCase]:
    for size in (1, 2, 8, 9):
        for periodic in (None, 0):
            yield g.case(one_int(size), periodic=periodic)
            yield g.case(one_int(size), periodic=periodic, output_datatype=11)


def mel(g: Gen) -> Iterator[OpCase]:
    for bins, length, rate, low, high in (
        (8, 16, 8000, 0.0, 4000.0),
        (10, 64, 16000, 100.0, 7000.0),
        (4, 8, 8192, 0.0, 4096.0),
    ):
        yield g.case(
            one_int(bins), one_int(length), one_int(rate), np.array(low, np.float32), np.array(high, np.float32)
        )


def dft(g: Gen) -> Iterator[OpCase]:
    for inverse, onesided, last in product((None, 1), (None, 1), (1, 2)):
        for axis in (1, 2, -2):
            x = g.x(2, 6, 5, last)
            for length in (None, 4, 9):
                given = [None if length is None else one_int(length), one_int(axis) if g.takes(3) else None]
                yield g.case(x, *given, axis=axis, inverse=inverse, onesided=onesided)
    for dtype in g.some_dtypes():
        yield g.case(g.x(1, 8, 1, dtype=dtype))


def stft(g: Gen) -> Iterator[OpCase]:
    for onesided in (None, 0):
        yield g.case(g.x(2, 20, 1), one_int(4), g.x(8), onesided=onesided)
        yield g.case(g.x(2, 20, 1), one_int(3), None, one_int(8), onesided=onesided)
        yield g.case(g.x(1, 20, 1), one_int(4), g.x(6), one_int(6), onesided=onesided)
        yield g.case(g.x(2, 20), one_int(4), g.x(8), onesided=onesided)


def determinant(g: Gen) -> Iterator[OpCase]:
    for shape in ((3, 3), (2, 3, 3), (1, 1), (2, 2, 2, 2)):
        yield g.case(g.x(*shape))
    yield g.case(np.zeros((2, 2), g.first))


def loss(g: Gen) -> Iterator[OpCase]:
    soft = g.schema.name.startswith("Soft")
    for shape in ((3, 5), (2, 5, 4), (2, 5, 2, 3)):
        labels = g.rng.integers(0, 5, (shape[0], *shape[2:]))
        for reduction in (None, "none", "sum", "mean"):
            for outputs in (1, 2) if soft else (1,):
                yield g.case(g.x(*shape), labels, reduction=reduction, outputs=outputs)
                yield g.case(g.x(*shape), labels, g.x(5, low=0.1), reduction=reduction, outputs=outputs)
                yield g.case(g.x(*shape), labels, g.x(5, low=0.1), reduction=reduction, ignore_index=2, outputs=outputs)
                yield g.case(g.x(*shape), labels, reduction=reduction, ignore_index=2, outputs=outputs)


def suppression(g: Gen) -> Iterator[OpCase]:
    boxes = np.array(
        [[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]],
        np.float32,
    )
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]], np.float32)
    for most in (None, 0, 1, 3):
        for overlap in (None, 0.0, 0.5, 1.0):
            for least in (None, 0.0, 0.55):
                given = [
                    None if number is None else np.array([number], kind)
                    for number, kind in ((most, np.int64), (overlap, np.float32), (least, np.float32))
                ]
                yield g.case(boxes, scores, *given)
    two = np.concatenate([scores, scores[..., ::-1]], 1)
    yield g.case(boxes, two, ints(2), np.array([0.5], np.float32), np.array([0.0], np.float32))
    yield g.case(boxes[..., [2, 3, 0, 1]], two, ints(2), np.array([0.5], np.float32))
    yield g.case(
        g.x(2, 6, 4, low=0.1, high=2),
        np.concatenate([two, two]),
        ints(3),
        np.array([0.4], np.float32),
        center_point_box=1,
    )


def randomly(g: Gen) -> Iterator[OpCase]:
    name = g.schema.name
    if name.endswith("Like"):
        for dtype in g.some_dtypes():
            if dtype.kind != "O":
                yield g.case(g.x(2, 3, dtype=dtype), random=True, dtype=1)
        yield g.case(g.x(2, 3), random=True)
    elif name == "Bernoulli":
        yield g.case(g.x(2, 3, low=0, high=1), random=True)
        yield g.case(g.x(2, 3, low=0, high=1), random=True, dtype=6)
    elif name == "Multinomial":
        yield g.case(g.x(2, 4), random=True)
        yield g.case(g.x(2, 4), random=True, sample_size=5, dtype=7)
    else:
        for dtype in (None, 1, 11, 10):
            yield g.case(random=True, shape=[2, 3], dtype=dtype)


SIGNALS: dict[str, Any] = {
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), window),
    "MelWeightMatrix": mel,
    "DFT": dft,
    "STFT": stft,
    "Det": determinant,
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), loss),
    "NonMaxSuppression": suppression,
    **dict.fromkeys(
        ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"), randomly
    ),
}

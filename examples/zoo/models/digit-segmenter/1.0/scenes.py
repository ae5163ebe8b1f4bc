"""Real handwritten digits, split before anything is composed from them, and scenes of them with their truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SIDE = 64
"""Height and width of a scene in pixels."""
STRIDE = 4
"""One cell of the segmentation mask covers STRIDE x STRIDE pixels."""
INK = 0.3
"""A cell belongs to a digit where the mean ink of its pixels reaches this share of black on white."""
MOST_DIGITS = 4
"""Digits in the fullest scene: the length to which truth is padded with -1."""


@dataclass(frozen=True)
class Digits:
    """Images (n, 8, 8) float32 in [0, 1] and their labels (n,) int64."""

    images: Array
    labels: Array


@dataclass(frozen=True)
class Scenes:
    """`image` (n, 1, 64, 64) uint8; `boxes` (n, 4, 4) float32, xyxy pixels, and `classes` (n, 4) int64, both
    padded with -1; `mask` (n, 16, 16) int64: 0 background, digit + 1 elsewhere."""

    image: Array
    boxes: Array
    classes: Array
    mask: Array


def split_digits() -> tuple[Digits, Digits]:
    """Scikit-learn's 1797 digits, once and for all: 1347 to train on and 450 held out, both with all ten classes."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8) / 16).astype(np.float32)
    parts = train_test_split(images, labels.astype(np.int64), test_size=450, random_state=0, stratify=labels)
    return Digits(parts[0], parts[2]), Digits(parts[1], parts[3])


def compose(digits: Digits, count: int, seed: int) -> Scenes:
    """`count` scenes of one to four digits, 18 to 28 pixels high, on an uneven, noisy background, all from the seed."""
    rng = np.random.default_rng(seed)
    image = np.empty((count, 1, SIDE, SIDE), np.uint8)
    boxes = np.full((count, MOST_DIGITS, 4), -1, np.float32)
    classes = np.full((count, MOST_DIGITS), -1, np.int64)
    mask = np.zeros((count, SIDE // STRIDE, SIDE // STRIDE), np.int64)
    for scene in range(count):
        ink = np.zeros((SIDE, SIDE), np.float32)
        for slot, (top, left, size) in enumerate(_places(rng)):
            pick = int(rng.integers(len(digits.labels)))
            glyph = _enlarge(digits.images[pick], size)
            ink[top : top + size, left : left + size] = glyph * rng.uniform(0.7, 1.0)
            boxes[scene, slot] = _tight_box(glyph) + np.array([left, top, left, top], np.float32)
            classes[scene, slot] = digits.labels[pick]
            mask[scene][_cells(glyph, top, left)] = digits.labels[pick] + 1
        image[scene, 0] = _photograph(ink, rng)
    return Scenes(image, boxes, classes, mask)


def _places(rng: np.random.Generator) -> list[tuple[int, int, int]]:
    """(top, left, size) of squares that do not overlap: as many of the wanted number as fit."""
    places: list[tuple[int, int, int]] = []
    wanted = int(rng.integers(1, MOST_DIGITS + 1))
    for _ in range(60):
        if len(places) == wanted:
            break
        size = int(rng.integers(18, 29))
        top, left = (int(at) for at in rng.integers(0, SIDE - size + 1, 2))
        if all(top >= t + s or t >= top + size or left >= x + s or x >= left + size for t, x, s in places):
            places.append((top, left, size))
    return places


def _enlarge(glyph: Array, size: int) -> Array:
    """Bilinear, with pixel centres aligned as an image viewer does it."""
    at = np.clip((np.arange(size) + 0.5) * 8 / size - 0.5, 0, 7)
    low = np.minimum(at.astype(int), 6)
    weights = np.zeros((size, 8), np.float32)
    weights[np.arange(size), low] = 1 - (at - low)
    weights[np.arange(size), low + 1] = at - low
    return weights @ glyph @ weights.T


def _tight_box(glyph: Array) -> Array:
    """The box of what can be seen: xyxy, the far edges exclusive."""
    rows, columns = np.nonzero(glyph > 0.2)
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1], np.float32)


def _cells(glyph: Array, top: int, left: int) -> Array:
    """True for the cells of the mask that hold enough of the glyph's ink, however faint its print is."""
    page = np.zeros((SIDE, SIDE), np.float32)
    page[top : top + glyph.shape[0], left : left + glyph.shape[1]] = glyph
    cells = SIDE // STRIDE
    return np.asarray(page.reshape(cells, STRIDE, cells, STRIDE).mean((1, 3)) >= INK)


def _photograph(ink: Array, rng: np.random.Generator) -> Array:
    """Light from one side and sensor noise, so that no two background pixels are the same by construction."""
    slope = rng.uniform(-0.08, 0.08, 2)
    ramp = np.linspace(-1, 1, SIDE)
    light = rng.uniform(0.05, 0.2) + slope[0] * ramp[:, None] + slope[1] * ramp[None, :]
    seen = light + (1 - light) * ink + rng.normal(0, 0.03, ink.shape)
    return np.asarray(np.clip(np.rint(seen * 255), 0, 255), np.uint8)

"""Which models answer a row otherwise beside other rows, or at another place among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.testing.broken_models.craft import text
from assay_zoo.functionality.check_functionality import is_of_a_sequence
from assay_zoo.functionality.data import quantizes_while_it_runs
from assay_zoo.functionality.messages import SIZES
from assay_zoo.functionality.rows import moved_output

Array = np.ndarray[Any, Any]
ROWS = np.random.default_rng(0).standard_normal((8, 3))
WEIGHT = np.random.default_rng(1).standard_normal((3, 4))
TABLE = np.random.default_rng(2).standard_normal((3, 5))


def moved(model: Callable[[Array], Array], rows: Array = ROWS, *, quantizes: bool = False) -> bool:
    asked = [*(rows[:size] for size in SIZES), rows[::-1]]
    return moved_output([{"y": model(some)} for some in asked], rounding=1e-12, quantizes=quantizes) == "y"


def plain(rows: Array) -> Array:
    return rows @ WEIGHT


def over_rows(rows: Array) -> Array:
    return np.exp(plain(rows)) / np.exp(plain(rows)).sum(0)


def over_classes(rows: Array) -> Array:
    return np.exp(plain(rows)) / np.exp(plain(rows)).sum(1, keepdims=True)


def rounded(rows: Array) -> Array:
    """Quantized while it runs."""
    step = np.abs(rows).max() / 127
    return np.round(rows / step) * step


def boxes(rows: Array) -> Array:
    """Two for each row, with the row's number in front, as NonMaxSuppression gives them."""
    numbers = np.repeat(np.arange(len(rows)), 2)[:, None]
    return np.concatenate([numbers, plain(rows).reshape(-1, 2)], 1)


MOVED = {
    "softmax over rows": over_rows,
    "a sum that grows from row to row": lambda rows: plain(rows).cumsum(0),
    "less a share of the first row": lambda rows: plain(rows) - 0.9 * plain(rows)[:1],
    "the first row's answer for every row": lambda rows: np.repeat(plain(rows)[:1], len(rows), 0),
    "a large constant column": lambda rows: np.concatenate([over_rows(rows), np.full((len(rows), 1), 100.0)], 1),
    "a large constant channel": lambda rows: np.stack([over_rows(rows), np.full((len(rows), 4), 100.0)], 1),
    "the rows as the second axis": lambda rows: over_rows(rows)[None],
    "flat": lambda rows: over_rows(rows).ravel(),
    "flat, each column a whole batch": lambda rows: over_rows(rows).T.ravel(),
    "labels of the whole batch": lambda rows: np.argsort(plain(rows)[:, 0]),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_row_that_follows_from_others(name: str) -> None:
    assert moved(MOVED[name])


def test_a_softmax_over_rows_is_seen_beside_what_quantizes_while_it_runs() -> None:
    assert moved(over_rows, quantizes=True)
    assert moved(MOVED["a large constant column"], quantizes=True)


SOUND = {
    "a product": plain,
    "a batch norm with kept figures": lambda rows: (plain(rows) - plain(ROWS).mean(0)) / plain(ROWS).std(0),
    "softmax over classes": over_classes,
    "the largest two": lambda rows: np.sort(plain(rows), 1)[:, -2:],
    "their places": lambda rows: np.argsort(plain(rows), 1)[:, -2:],
    "an embedding": lambda rows: TABLE[np.argmax(rows, 1)],
    "pictures": lambda rows: np.einsum("nc,hw->nchw", plain(rows), TABLE),
    "zero up to a rounding": lambda rows: (plain(rows) * 3 - plain(rows) * (1 + 1e-16 * len(rows)) * 3) + 1e-17 * len(rows),
    "the rows behind an axis of layers": lambda rows: np.stack([plain(rows), 2 * plain(rows)]),
    "flat": lambda rows: plain(rows).ravel(),
    "flat, each column a whole batch": lambda rows: plain(rows).T.ravel(),
    "boxes with the number of their row": boxes,
    "numbers of each row": lambda rows: np.arange(len(rows)),
    "missing and endless values": lambda rows: np.where(plain(rows) > 1, np.nan, np.where(plain(rows) < -1, np.inf, plain(rows))),
    "each row against each": lambda rows: plain(rows) @ plain(rows).T,
    "a number for the batch": lambda rows: plain(rows).mean(),
    "words": lambda rows: np.array(["low", "high"], object)[(plain(rows)[:, 0] > 0).astype(int)],
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_row_of_its_own(name: str) -> None:
    assert not moved(SOUND[name])


def test_what_quantizes_while_it_runs_has_one_scale_for_all_rows() -> None:
    rows = np.where(np.arange(8)[:, None] == 2, 20 * ROWS, ROWS)
    assert not moved(lambda some: rounded(some) @ WEIGHT, rows, quantizes=True)
    rows[2] *= 5
    assert moved(lambda some: np.argmax(rounded(some) @ WEIGHT, 1), rows)
    assert not moved(lambda some: np.argmax(rounded(some) @ WEIGHT, 1), rows, quantizes=True)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("q, s, z = DynamicQuantizeLinear(x)  y = DequantizeLinear(q, s, z)", True),
        (
            "b = Constant <value_int=1> ()  c = Cast <to=9> (b)  y = If (c) <then_branch = "
            "t () => (float[N,3] d) { q, s, z = DynamicQuantizeLinear(x)  d = DequantizeLinear(q, s, z) }, "
            "else_branch = e () => (float[N,3] r) { r = Relu(x) }>",
            True,
        ),
        ("y = Relu(x)", False),
    ],
)
def test_a_model_that_quantizes_while_it_runs(body: str, answer: bool) -> None:
    assert quantizes_while_it_runs(text(f"g (float[N,3] x) => (float[N,3] y) {{ {body} }}")) is answer


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        *((name, True) for name in ("T", "seq", "seq_len", "seqLen", "sequence_length", "timesteps", "timepoints", "frames")),
        *((name, True) for name in ("num_nodes", "maxlen", "n_tokens", "past_sequence_length + 1", "words")),
        *((name, False) for name in ("N", "n", "batch", "batch_len", "batchSeq", "keyword_batch", "stepbatch", "challenge")),
        *((name, False) for name in ("timestamp_rows", "samples", "unk__0", "dim_0", "", "entoken")),
    ],
)  # fmt: skip
def test_the_name_of_a_sequence(name: str, answer: bool) -> None:
    assert is_of_a_sequence(name) is answer

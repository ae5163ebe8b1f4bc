"""The parts of asking again: bytes, feeds, the order of calls, and the pattern in their log."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.repeats import Pattern
from assay.ports import Tensor
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.call_inputs import LINE_BYTES, Feeds
from assay.worker.verify.call_log import Call
from assay.worker.verify.call_pattern import bad_calls, pattern_of
from assay.worker.verify.repeat_schedule import LEAST_S, allowed_s, schedule
from assay.worker.verify.same_bytes import distance, same_bytes

LARGE = np.arange(40_003, dtype=np.uint8)


@pytest.mark.parametrize(
    ("tensor", "other", "same"),
    [
        (np.float32([1, np.nan]), np.float32([1, np.nan]), True),
        (np.float32([0.0]), np.float32([-0.0]), False),
        (np.float32([1]), np.float64([1]), False),
        (np.float32([1]), np.float32([[1]]), False),
        (np.array(["a"], object), np.array(["a"], object), True),
        (LARGE, LARGE.copy(), True),
        (LARGE, np.append(LARGE[:-1], np.uint8(7)), False),
        (LARGE, np.append(np.uint8(7), LARGE[1:]), False),
        (np.zeros((400, 200), np.float32).T, np.zeros((400, 200), np.float32).T, True),
        (np.ones(3, ml_dtypes.bfloat16), np.ones(3, ml_dtypes.bfloat16), True),
        (None, np.float32([1]), False),
    ],
)
def test_the_same_in_every_bit(tensor: Tensor | None, other: Tensor, same: bool) -> None:
    assert same_bytes(tensor, other) is same


@pytest.mark.parametrize(
    ("tensor", "other", "apart"),
    [
        (np.float32([1, 2]), np.float32([1, 4]), 0.5),
        (np.float32([1, np.nan]), np.float32([1, np.nan]), 0.0),
        (np.float32([1, np.nan]), np.float32([1, 2]), np.inf),
        (np.float32([np.inf]), np.float32([-np.inf]), np.inf),
        (np.int64([3]), np.int64([4]), 0.25),
        (np.bool_([True]), np.bool_([False]), 1.0),
        (np.array(["a"], object), np.array(["b"], object), 1.0),
        (np.float32([1]), np.float32([1, 1]), np.inf),
        (np.ones(2, ml_dtypes.bfloat16), np.zeros(2, ml_dtypes.bfloat16), 1.0),
    ],
)
def test_how_far_apart(tensor: Tensor, other: Tensor, apart: float) -> None:
    assert distance({"y": tensor}, {"y": other}) == apart


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, ml_dtypes.bfloat16])
def test_feeds_hold_the_same_values_wherever_they_begin(dtype: type) -> None:
    sample = {"x": np.arange(24).reshape(2, 3, 4).astype(dtype), "scalar": np.asarray(3, dtype)}
    feeds = Feeds(TransformedModel(Path()), [sample], "")
    item = np.dtype(dtype).itemsize
    for offset, begins in ((0, 0), (16, 16), (1, item)):
        feed = feeds.at(0, offset)
        assert feed["x"].ctypes.data % LINE_BYTES == begins
        assert all(same_bytes(feed[name], array) for name, array in sample.items())
        feed["x"][0, 0, 0] = 99
        assert feeds.written(0, offset, feed) == ["x"]
        assert feeds.written(0, offset, feeds.at(0, offset)) == [], "the next one is as it should be"


@given(st.integers(1, 40), st.integers(0, 5))
def test_every_sample_is_asked_again_the_first_one_first(samples: int, seed: int) -> None:
    order = [sample for sample, _ in islice(schedule(samples, (), seed), 1 + 4 * samples)]
    assert order[0] == 0
    assert set(order) == set(range(samples))
    assert order == [sample for sample, _ in islice(schedule(samples, (), seed), 1 + 4 * samples)]


def test_calls_of_a_sequence_stay_in_order_from_its_start() -> None:
    order = [sample for sample, _ in islice(schedule(5, (3, 2), 0), 15)]
    assert order == [0, 1, 2, 3, 4] * 3


def test_a_job_may_spend_a_share_of_its_time_and_a_little_in_any_case() -> None:
    assert (allowed_s(0.25, 0.1), allowed_s(0.25, 8.0), allowed_s(0.0, 8.0)) == (LEAST_S, 2.0, 0.0)


def _calls(samples: str, sizes: list[float], offsets: list[int] | None = None) -> list[Call]:
    calls, before = [], -1
    for number, (letter, size) in enumerate(zip(samples, sizes, strict=True), 1):
        sample = ord(letter) - ord("a")
        offset = offsets[number - 1] if offsets else 0
        calls.append(Call(number, sample, before, offset, number / 10, round(size * 1e6), size))
        before = sample
    return calls


@pytest.mark.parametrize(
    ("samples", "sizes", "pattern"),
    [
        ("abaab", [0, 0, 1, 1, 0], Pattern.FIRST_CALL),
        ("abaabb", [0, 0, 1, 1, 1, 1], Pattern.FIRST_CALL),
        ("aaaaaa", [0, 0.1, 0.2, 0.3, 0.4, 0.5], Pattern.DRIFT),
        ("aaaaaa", [0, 0, 0, 0, 1, 1], Pattern.CALLS),
        ("aaaaaa", [0, 0, 1, 1, 1, 1], Pattern.CALLS),
        ("abababaabba", [0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1], Pattern.PREVIOUS_SAMPLE),
        ("aaaaaaaaaa", [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], Pattern.RARE),
        ("aaaaaaaaaa", [0, 1e-7, 2e-7, 0, 1, 1e-7, 0, 0, 0, 0], Pattern.RARE),
        ("aaaaaaaaaaaa", [0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1], Pattern.RARE),
        ("aaaaaaa", [0, 1, 0, 0.5, 0.7, 0, 0.6], None),
    ],
)
def test_the_pattern_of_a_log(samples: str, sizes: list[float], pattern: Pattern | None) -> None:
    assert pattern_of(_calls(samples, sizes)) is pattern


def test_the_pattern_of_memory() -> None:
    assert pattern_of(_calls("aaaaaaa", [0, 0, 1, 0, 1, 0, 1], [0, 0, 16, 0, 16, 0, 16])) is Pattern.ALIGNMENT


def test_a_call_whose_zero_has_another_sign_is_a_bad_one() -> None:
    calls = [Call(1, 0, -1, 0, 0.1), Call(2, 0, 0, 0, 0.2), Call(3, 0, 0, 0, 0.3, answer=1, size=0.0)]
    assert [call.number for call in bad_calls(calls)] == [3]

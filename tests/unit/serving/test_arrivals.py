"""When requests are due."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.errors import UsageError
from assay.serving.arrivals import BURST, arrivals


def test_poisson_arrivals_are_seeded_and_have_their_rate() -> None:
    times = arrivals("poisson", 100, 50, seed=3)
    assert times == arrivals("poisson", 100, 50, seed=3)
    assert times != arrivals("poisson", 100, 50, seed=4)
    gaps = np.diff(times)
    assert abs(gaps.mean() - 0.01) < 5e-4
    assert abs(gaps.std() - 0.01) < 1e-3  # as long as its mean: an exponential


def test_constant_and_bursts() -> None:
    assert arrivals("constant", 4, 1) == [0.0, 0.25, 0.5, 0.75]
    times = arrivals("burst", 16, 1)
    assert times == [0.0] * BURST + [0.5] * BURST


def test_a_trace_begins_with_its_first_request(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text("12.5\n10\n11\n99\n")
    assert arrivals("trace", 1, 60, trace=tmp_path / "trace.txt") == [0.0, 1.0, 2.5]


@pytest.mark.parametrize(
    ("kind", "rate", "text", "sentence"),
    [
        ("poisson", 0.0, None, "are 0 requests"),
        ("often", 1.0, None, "arrivals are one of poisson"),
        ("trace", 1.0, None, "need --trace FILE"),
        ("trace", 1.0, "one", "write the second of each request"),
        ("trace", 1.0, "-3", "holds no times"),
        ("trace", 1.0, "nan", "holds no times"),
    ],
)
def test_bad_input_is_one_sentence(kind: str, rate: float, text: str | None, sentence: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    if text is not None:
        trace.write_text(text)
    with pytest.raises(UsageError) as error:
        arrivals(kind, rate, 1.0, trace=trace)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)

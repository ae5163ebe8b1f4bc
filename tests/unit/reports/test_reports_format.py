from __future__ import annotations

import math

import pytest

from assay.reports import format as text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (0.0, "0"),
        (-0.0, "0"),
        (0.21, "0.21"),
        (3.4, "3.4"),
        (-3.456, "-3.46"),
        (0.9999, "1"),
        (1.0004, "1"),
        (123456.0, "123456"),
        (2.1e-6, "2.1e-06"),
        (1.5e12, "1.5e+12"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_number(value: float | None, shown: str) -> None:
    assert text.number(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, ""), (0.0005, "0.500 ms"), (0.0123, "12.3 ms"), (2.5, "2500 ms")]
)
def test_milliseconds(seconds: float | None, shown: str) -> None:
    assert text.milliseconds(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.042, "42.0 ms"), (1.2, "1.20 s"), (30.02, "30.0 s"), (59.97, "1 min 0 s"), (185.0, "3 min 5 s")],
)
def test_duration(seconds: float, shown: str) -> None:
    assert text.duration(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (None, ""),
        (0, ""),
        (512, "512 B"),
        (51_200, "51.2 kB"),
        (999_600, "1.00 MB"),
        (79_691_776, "79.7 MB"),
        (5 * 10**12, "5000 GB"),
    ],
)
def test_size(count: int | None, shown: str) -> None:
    assert text.size(count) == shown


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("latency_p50_ms", 0.5, "0.5 ms"),
        ("sqnr_db", 104.04, "104 dB"),
        ("sqnr_db", math.inf, "inf"),
        ("artifact_bytes", 51_200.0, "51.2 kB"),
        ("lower_s", 0.042, "42.0 ms"),
        ("cosine", 0.999999, "0.999999"),
        ("budget_used", 3.4, "3.4"),
    ],
)
def test_figure_reads_the_unit_off_its_name(name: str, value: float, shown: str) -> None:
    assert text.metric(name, value) == shown

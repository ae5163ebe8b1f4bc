"""The one pass against a plain float64 implementation, for every float32 array that hypothesis can think of."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.core.case import Contract, Tolerance
from assay.judge.words.finding_text import finding_text
from assay.numerics import chunks
from assay.numerics.compare import compare_outputs

RTOL, ATOL = 1e-3, 1e-4


def plain(actual: np.ndarray, expected: np.ndarray, rtol: float = RTOL, atol: float = ATOL) -> dict[str, float]:
    """What the metrics mean, one expression each."""
    a, e = actual.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    total = a.size
    same = (np.isnan(a) & np.isnan(e)) | (a == e)
    finite = np.isfinite(a) & np.isfinite(e)
    clashes = int(np.count_nonzero(~finite & ~same))
    a, e = a[finite], e[finite]
    d = np.abs(a - e)
    with np.errstate(all="ignore"):
        budget = np.where(d == 0, 0.0, d / (rtol * np.abs(e) + atol))
    metrics = {
        "share_out_of_tolerance": (np.count_nonzero(budget > 1) + clashes) / total,
        "budget_used": math.inf if clashes else budget.max(initial=0.0),
    }
    if a.size:
        norm = np.linalg.norm
        nonzero = e != 0
        with np.errstate(all="ignore"):
            metrics |= {
                "max_abs": d.max(),
                "mean_abs": d.mean(),
                "max_rel": (d[nonzero] / np.abs(e[nonzero])).max(initial=0.0),
                "rmse": np.sqrt(np.mean(d**2)),
                "rel_l2": norm(d) / norm(e),
                "cosine": a @ e / norm(a) / norm(e),
                "norm_ratio": norm(a) / norm(e),
                "abs_p50": np.quantile(d, 0.5, method="inverted_cdf"),
                "abs_p90": np.quantile(d, 0.9, method="inverted_cdf"),
                "abs_p99": np.quantile(d, 0.99, method="inverted_cdf"),
            }
    return {name: float(value) for name, value in metrics.items() if not np.isnan(value)}


def ulps_between(a: np.float32, e: np.float32) -> int:
    """By counting along the number line: the rank of a number among all float32."""

    def rank(value: np.float32) -> int:
        bits = int(np.array(value, np.float32).view(np.uint32))
        return -(bits & 0x7FFFFFFF) if bits >> 31 else bits

    return abs(rank(a) - rank(e))


def compared(actual, expected, contract=None, **more):
    contract = contract or Contract(tolerances={"*": Tolerance(rtol=RTOL, atol=ATOL)})
    (comparison,), _ = compare_outputs([{"o": actual}], [{"o": expected}], contract, **more)
    return comparison


def assert_close(metrics: dict[str, float], wanted: dict[str, float], rel: float = 2e-6) -> None:
    for name, value in wanted.items():
        assert metrics[name] == pytest.approx(value, rel=rel, abs=1e-7 if name == "cosine" else 1e-290), name


floats = st.one_of(
    st.floats(width=32),
    st.floats(-2, 2, width=32),
    st.sampled_from(
        [0.0, -0.0, 1.0, 3.4028234663852886e38, 1.401298464324817e-45, 1e-39, math.inf, -math.inf, math.nan]
    ),
)
pairs = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        hnp.arrays(np.float32, n, elements=floats), hnp.arrays(np.float32, n, elements=floats), st.booleans()
    )
)


@pytest.mark.heavy
@settings(max_examples=300, deadline=None)
@given(pairs)
def test_float32_figures_are_those_of_a_plain_implementation(pair):
    actual, expected, near = pair
    if near:
        with np.errstate(all="ignore"):
            actual = np.where(np.abs(actual) < 1, expected * np.float32(1 + 1e-4), expected).astype(np.float32)
    comparison, wanted = compared(actual, expected), plain(actual, expected)
    assert_close(comparison.metrics, wanted)


@pytest.mark.heavy
@settings(max_examples=200, deadline=None)
@given(hnp.arrays(np.float32, 30, elements=floats), hnp.arrays(np.float32, 30, elements=floats))
def test_ulp_histogram_counts_representable_numbers_between(actual, expected):
    finite = np.isfinite(actual) & np.isfinite(expected)
    assume(finite.any())
    between = [ulps_between(a, e) for a, e in zip(actual[finite], expected[finite], strict=True)]
    histogram = compared(actual, expected).ulp_histogram
    edges = [int(edge) for edge in histogram.edges]
    wanted = [sum(low <= u < high for u in between) for low, high in itertools.pairwise(edges)]
    assert list(histogram.counts) == wanted


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(np.float64, 20, elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.sampled_from([1.0, 1 + 1e-9, -1.0, 2.0]),
)
def test_float64_figures_hold_over_the_whole_range(expected, factor):
    assume(0 < np.abs(expected).max() < 8e307)
    actual = expected * factor
    metrics = compared(actual, expected).metrics
    share = abs(factor - 1.0)
    assert metrics["rel_l2"] == pytest.approx(share, rel=1e-6)
    assert metrics["norm_ratio"] == pytest.approx(abs(factor), rel=1e-12)
    assert metrics["max_abs"] == pytest.approx(np.abs(actual - expected).max(), rel=1e-12)


def near(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    expected = rng.standard_normal(n, dtype=np.float32) * 10.0 ** rng.integers(-6, 6, n).astype(np.float32)
    actual = expected + rng.standard_normal(n, dtype=np.float32) * np.float32(1e-4)
    actual[rng.random(n) < 0.2] = 0.0
    return actual.astype(np.float32), expected.astype(np.float32)


@pytest.mark.heavy
@pytest.mark.parametrize("n", [chunks.CHUNK - 1, chunks.CHUNK + 1, 3 * chunks.CHUNK + 517, chunks.BLOCK + 3])
def test_large_arrays_agree_with_the_plain_implementation(n):
    actual, expected = near(n)
    comparison, wanted = compared(actual, expected), plain(actual, expected)
    quantiles = {name: wanted.pop(name) for name in ("abs_p50", "abs_p90", "abs_p99")}
    assert_close(comparison.metrics, wanted)
    for name, value in quantiles.items():
        assert comparison.metrics[name] == pytest.approx(value, rel=1 / 8)
    assert sum(comparison.error_histogram.counts) == sum(comparison.ulp_histogram.counts) == n
    d = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    budget = d / (RTOL * np.abs(expected.astype(np.float64)) + ATOL)
    assert [worst.index[1] for worst in comparison.worst] == list(np.argsort(-budget, kind="stable")[:10])


def test_one_sample_out_of_many_is_found_where_it_is():
    rng = np.random.default_rng(1)
    expected = [{"o": rng.standard_normal((1, 10), dtype=np.float32)} for _ in range(200)]
    actual = [{"o": sample["o"].copy()} for sample in expected]
    actual[137]["o"][0, 4] += 1.0
    contract = Contract()
    (comparison,), findings = compare_outputs(actual, expected, contract)
    assert comparison.worst[0].index == (137, 0, 4)
    assert (comparison.samples, comparison.elements, comparison.shape) == (200, 2000, (1, 10))
    assert [finding.kind for finding in findings] == ["values"]
    assert "[137, 0, 4]" in finding_text(findings[0])


def test_many_samples_are_one_stream():
    actual, expected = near(60_000)
    whole = compared(actual, expected)
    split = [{"o": part} for part in np.split(actual, 60)], [{"o": part} for part in np.split(expected, 60)]
    (parts,), _ = compare_outputs(*split, Contract(tolerances={"*": Tolerance(rtol=RTOL, atol=ATOL)}))
    assert_close(parts.metrics, whole.metrics, rel=1e-12)
    assert parts.error_histogram == whole.error_histogram
    assert parts.ulp_histogram == whole.ulp_histogram


@pytest.mark.heavy
def test_threads_do_not_change_a_figure():
    actual, expected = near(2 * chunks.BLOCK + 5)
    assert compared(actual, expected, threads=1) == compared(actual, expected, threads=3)


def test_slices_and_transposes_are_read_in_order():
    expected = np.random.default_rng(0).standard_normal((50, 40), dtype=np.float32)
    actual = expected.copy()
    actual[3, 7] += 1.0
    comparison = compared(actual.T, expected.T)
    assert comparison.worst[0].index == (0, 7, 3)


@pytest.mark.parametrize("relu", [False, True])
def test_nan_inside_a_large_array_leaves_the_other_figures_alone(relu):
    actual, expected = near(2 * chunks.CHUNK)
    if relu:
        actual, expected = np.maximum(actual, 0), np.maximum(expected, 0)
    for at in (5, chunks.CHUNK + 9):
        actual[at] = np.nan
    expected[9] = actual[9] = np.inf
    comparison, wanted = compared(actual, expected), plain(actual, expected)
    for name in ("abs_p50", "abs_p90", "abs_p99"):
        wanted.pop(name)
    assert_close(comparison.metrics, wanted)


def test_decibels_of_known_signals():
    expected = np.array([3.0, -4.0], np.float64)
    metrics = compared(expected * 1.1, expected).metrics
    assert metrics["sqnr_db"] == pytest.approx(20.0)
    assert metrics["psnr_db"] == pytest.approx(20 * math.log10(4.0 / (0.5 / math.sqrt(2))))
    exact = compared(expected, expected).metrics
    assert exact["sqnr_db"] == exact["psnr_db"] == math.inf


def test_a_tiny_angle_keeps_its_digits():
    expected = np.array([1.0, 0.0], np.float64)
    metrics = compared(np.array([1.0, 1e-6]), expected).metrics
    assert 1.0 - metrics["cosine"] == pytest.approx(5e-13, rel=1e-3)

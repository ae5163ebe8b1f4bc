"""Each figure is that of scipy.stats, and is had without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.stats.proportion import binomial_quantile, more_failures_by_chance, wilson


@pytest.mark.parametrize("trials", [1, 2, 10, 997, 100_000])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_the_interval_of_a_share(trials: int, confidence: float) -> None:
    from scipy.stats import binomtest

    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        due = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
        assert wilson(successes, trials, confidence) == pytest.approx((due.low, due.high), rel=1e-9, abs=1e-15)


def test_of_nothing_anything_may_be() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("successes", [-1, 3])
def test_no_such_count(successes: int) -> None:
    with pytest.raises(ValueError, match="successes in 2 trials"):
        wilson(successes, 2)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_a_quantile_of_a_count(share: float) -> None:
    from scipy.stats import binom

    for trials in [1, 2, 3, 17, 100, 4321, 1_000_000]:
        for probability in (0.025, 0.4, 0.975):
            assert binomial_quantile(probability, trials, share) == binom.ppf(probability, trials, share)


@pytest.mark.parametrize(
    ("old", "new", "sent"), [(0, 1, 1), (0, 3, 5), (2, 9, 10), (5, 4, 9), (40, 90, 20_000), (9, 10, 10)]
)
def test_failures_that_fall_on_one_of_two(old: int, new: int, sent: int) -> None:
    from scipy.stats import hypergeom

    due = hypergeom.sf(new - 1, 2 * sent, old + new, sent)
    assert more_failures_by_chance(old, new, sent) == pytest.approx(due, rel=1e-8)


def test_nobody_waits_for_the_whole_of_scipy() -> None:
    code = (
        "import sys; import assay.stats.proportion as p\n"
        "p.wilson(3, 9); p.binomial_quantile(0.5, 9, 0.9); p.more_failures_by_chance(1, 4, 9)\n"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

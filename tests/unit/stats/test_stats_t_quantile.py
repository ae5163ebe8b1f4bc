"""Quantiles of Student's t, beside those of scipy; and that a worker without scipy has them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import stdtrit

from assay.stats.t_quantile import t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7, 10, 11, 19, 50, 199])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.6, 0.95, 0.999, 0.99999])
def test_quantiles_are_those_of_scipy(freedom: int, share: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(float(stdtrit(freedom, share)), rel=1e-9, abs=1e-12)


def test_a_comparison_is_decided_without_scipy() -> None:
    """Environments of flows hold what a worker needs, and scipy is not among it (`assay.environments.worker_requirements`)."""
    script = (
        "import sys; sys.modules['scipy'] = None\n"
        "from assay.core.speed import PairedRun, SpeedRule\n"
        "from assay.stats.sequential_test import is_decided\n"
        "print(is_decided([PairedRun(0.0, 0.0, 0.0, 2, 1.0, 1.0)] * 4, SpeedRule()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr

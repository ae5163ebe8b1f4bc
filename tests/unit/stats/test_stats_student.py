"""Quantiles of Student's t, beside those of scipy; and that a worker without scipy has them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import stdtrit

from assay.stats.student import student


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7, 10, 11, 19, 50, 199])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.6, 0.95, 0.999, 0.99999])
def test_quantiles_are_those_of_scipy(freedom: int, share: float) -> None:
    assert student(share, freedom) == pytest.approx(float(stdtrit(freedom, share)), rel=1e-9, abs=1e-12)


def test_a_duel_is_decided_without_scipy() -> None:
    """Environments of flows hold what a worker needs, and scipy is not among it (`assay.environments.needs`)."""
    script = (
        "import sys; sys.modules['scipy'] = None\n"
        "from assay.core.duel import Launch, SpeedRule\n"
        "from assay.stats.launches import settled\n"
        "print(settled([Launch(0.0, 0.0, 0.0, 2, 1.0, 1.0)] * 4, SpeedRule()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr

"""The process that measures the machine's peaks: what it inherits."""

from __future__ import annotations

from assay.pipeline.roofline_peaks import environment, no_less_than_fewer


def test_a_kernel_that_the_user_pinned_for_one_library_is_not_the_peak_of_the_machine() -> None:
    pinned = {"OPENBLAS_CORETYPE": "Haswell", "MKL_CBWR": "AVX2", "OMP_NUM_THREADS": "7", "PATH": "/bin"}
    kept = environment(pinned, 2)
    assert kept == {"PATH": "/bin", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}


def test_more_threads_reach_no_less_than_fewer() -> None:
    """As seen on one core: 233 on one thread, 68 on two."""
    assert no_less_than_fewer({4: 9.0, 2: 68.0, 1: 233.0, 8: 300.0}) == {1: 233.0, 2: 233.0, 4: 233.0, 8: 300.0}

"""The process that measures the machine's peaks: what it inherits."""

from __future__ import annotations

from assay.pipeline.machine_peaks import environment


def test_a_kernel_that_the_user_pinned_for_one_library_is_not_the_peak_of_the_machine() -> None:
    pinned = {"OPENBLAS_CORETYPE": "Haswell", "MKL_CBWR": "AVX2", "OMP_NUM_THREADS": "7", "PATH": "/bin"}
    kept = environment(pinned, 2)
    assert kept == {"PATH": "/bin", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}

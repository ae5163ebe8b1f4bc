"""The compiled pass and the numpy pass are one comparator: the same metrics, counts and worst elements."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.case import Contract, Tolerance
from assay.core.comparison import Comparison
from assay.judge.words.finding_text import finding_text
from assay.numerics import native_pass
from assay.numerics.compare import compare_outputs

Array = np.ndarray[Any, np.dtype[np.float32]]


def _both(actual: Array, expected: Array, contract: Contract = Contract()) -> tuple[Comparison, Comparison]:
    def figures() -> Comparison:
        return compare_outputs([{"o": actual}], [{"o": expected}], contract, threads=1)[0][0]

    compiled, kept = figures(), native_pass.compiled_kernel
    native_pass.compiled_kernel = lambda: None  # type: ignore[assignment]
    try:
        return compiled, figures()
    finally:
        native_pass.compiled_kernel = kept


def _agree(compiled: Comparison, plain: Comparison) -> None:
    assert [*map(finding_text, compiled.findings)] == [*map(finding_text, plain.findings)]
    assert compiled.degenerate == plain.degenerate
    assert compiled.worst == plain.worst
    assert compiled.ulp_histogram == plain.ulp_histogram
    assert compiled.error_histogram == plain.error_histogram
    assert compiled.metrics.keys() == plain.metrics.keys()
    for name, value in plain.metrics.items():
        slack = 1 / 8 if name.startswith("abs_p") else 1e-5
        # A hundred-thousandth of a ratio, in decibels, which may themselves be about zero.
        near = 5e-5 if name.endswith("_db") else 1e-9
        assert compiled.metrics[name] == pytest.approx(value, rel=slack, abs=near, nan_ok=True), name


def test_it_is_built_where_there_is_a_compiler() -> None:
    """A wheel without it is only slower; but that it was forgotten here would be seen nowhere else."""
    assert native_pass.compiled_kernel() is not None or shutil.which("cc") is None


SPECIALS = [0.0, -0.0, 1e-40, -1e-40, 1e-45, 1.0, -1.0, 3e38, -3e38, 1e-30, 6.5, np.nan, np.inf, -np.inf]


@pytest.mark.heavy
@settings(max_examples=150, deadline=None)
@given(
    size=st.integers(1, 1600),
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from([0.0, 1e-8, 1e-6, 1e-3, 1.0]),
    specials=st.lists(
        st.tuples(st.integers(0, 1599), st.sampled_from(SPECIALS), st.sampled_from(["actual", "expected", "both"])),
        max_size=6,
    ),
    rtol=st.sampled_from([0.0, 1e-6, 1e-3]),
)
def test_both_passes_agree(
    size: int, seed: int, noise: float, specials: list[tuple[int, float, str]], rtol: float
) -> None:
    rng = np.random.default_rng(seed)
    expected = rng.standard_normal(size).astype(np.float32)
    actual = (expected + noise * rng.standard_normal(size)).astype(np.float32)
    for place, value, side in specials:
        for name, array in (("actual", actual), ("expected", expected)):
            if side in (name, "both"):
                array[place % size] = value
    _agree(*_both(actual, expected, Contract(tolerances={"*": Tolerance(rtol, 1e-6)})))


@pytest.mark.parametrize("size", [511, 512, 513, 131_072, 131_073, 300_001])
@pytest.mark.parametrize("spoil", [lambda a: None, lambda a: a.__setitem__(-1, 9.0), lambda a: a.__imul__(2.0)])
def test_at_the_edges_of_tiles_and_chunks(size: int, spoil: Callable[[Array], None]) -> None:
    expected = np.random.default_rng(size).standard_normal(size, dtype=np.float32)
    actual = expected.copy()
    spoil(actual)
    _agree(*_both(actual, expected))


def test_an_account_laid_out_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of another version is not called: numpy does the work."""
    monkeypatch.setattr(native_pass, "VERSION", native_pass.VERSION + 1)
    native_pass.compiled_kernel.cache_clear()
    try:
        assert native_pass.compiled_kernel() is None
        assert not native_pass.suits(np.ones(4, np.float32))
    finally:
        native_pass.compiled_kernel.cache_clear()

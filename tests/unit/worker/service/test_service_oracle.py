"""What a service should give is kept once for each token of a text."""

from __future__ import annotations

import numpy as np
import pytest

from assay.worker.service.oracle import Oracle

LONG = 50_000


def _oracle() -> Oracle:
    return Oracle(None, None, [])  # type: ignore[arg-type]


def test_a_row_for_each_beginning() -> None:
    oracle, logs = _oracle(), np.log(np.array([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]]))
    oracle.keep((1, 0, 1), logs, np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]]))
    assert oracle.logs((1, 0)) is not oracle.logs((1, 0, 1))
    assert np.array_equal(oracle.logs((1, 0)), logs[1])
    assert [*map(oracle.knows, [(1,), (1, 0, 1), (0,), (1, 0, 1, 1)])] == [True, True, False, False]
    assert len(oracle.all_logs((1, 0, 0))) == 2
    assert oracle.noise.tolist() == [3.0, 2.0]
    assert np.allclose(oracle.deviation((1, 0)), np.array([3.0, 1.0]) + 0.25 * 3.0 + 0.75 * 1.0)
    for other in ((0,), ()):
        with pytest.raises(KeyError):
            oracle.logs(other)


def test_elsewhere_the_noise_is_the_largest_of_each_token() -> None:
    oracle, logs = _oracle(), np.log(np.array([[0.5, 0.5], [0.5, 0.5]]))
    oracle.keep((1, 0), logs, np.array([[1.0, 2.0], [3.0, 1.0]]))
    oracle.keep((0,), logs[:1])
    assert np.allclose(oracle.deviation((0,)), np.array([3.0, 2.0]) + 2.5)


def test_a_long_text_takes_a_row_for_each_token() -> None:
    """Of tuples of all that it begins with these would be 10 GB, twice."""
    oracle, row = _oracle(), np.zeros((1, 2))
    oracle.keep(range(LONG), np.broadcast_to(row, (LONG, 2)), np.broadcast_to(row, (LONG, 2)))
    assert oracle.knows(tuple(range(LONG)))

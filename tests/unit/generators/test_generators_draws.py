"""Random numbers of a case: the same on every machine."""

from __future__ import annotations

import numpy as np

from assay.generators.draws import Draws

KNOWN = [83, 16, 345, 595, 866, 364]


def test_the_stream_of_a_case_is_known() -> None:
    draws = Draws("sweep", 1, 7, 3)
    assert [draws.below(1000) for _ in range(6)] == KNOWN


def test_streams_of_two_cases_differ() -> None:
    first, other = Draws("sweep", 1, 7, 3), Draws("sweep", 1, 7, 4)
    assert [first.below(1000) for _ in range(6)] != [other.below(1000) for _ in range(6)]


def test_numbers_stay_within_their_ends() -> None:
    draws = Draws("any", 1, 0, 0)
    assert {draws.between(-1, 2) for _ in range(200)} == {-1, 0, 1, 2}
    reals = draws.reals((1000,), -0.5, 2.0)
    assert reals.min() >= -0.5
    assert reals.max() <= 2.0
    assert np.unique(reals).size > 900
    wholes = draws.wholes((1000,), 3, 5)
    assert {*wholes.tolist()} == {3, 4, 5}
    assert sorted(draws.shuffled(range(9))) == [*range(9)]

"""What counts as a change: more than twice, and more than one and a half widths of the noise."""

from __future__ import annotations

import pytest

from assay.numerics.tolerance.judge.error_growth import increased


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [(0.1, 0.5, True), (0.1, 0.3, False), (0.3, 0.5, False), (0.0, 0.4, True), (0.4, 0.4, False), (0.9, 0.1, False)],
)
def test_the_norm_in_noise_widths(old: float, new: float, changed: bool) -> None:
    grown = increased({"budget_norm": old}, {"budget_norm": new})
    assert bool(grown) is changed
    if changed:
        assert grown == {"budget_norm": (old * 4, new * 4)}


def test_figures_of_another_tolerance_are_no_former_value() -> None:
    assert increased({"budget_used": 0.1}, {"budget_norm": 0.9}) == {}

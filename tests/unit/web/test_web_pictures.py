"""What stands in a plot can be read."""

from __future__ import annotations

import pytest

from assay.web.pictures import bars


@pytest.mark.parametrize(
    ("counts", "over"),
    [
        ([310, 0, 29, 1], ["310", "", "29", "1"]),
        ([12345] * 20, [""] * 20),
        ([7] * 20, ["7"] * 20),
    ],
    ids=["few bars", "counts wider than their bars", "many bars, short counts"],
)
def test_counts_stand_over_the_bars_where_all_of_them_have_room(counts: list[int], over: list[str]) -> None:
    plot = bars({"counts": counts, "edges": list(range(len(counts) + 1))})
    assert [bar[-1] for bar in plot["bars"]] == over
    assert [bar[-2] for bar in plot["bars"]] == counts

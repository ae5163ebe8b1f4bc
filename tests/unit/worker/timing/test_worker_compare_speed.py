"""Which of the batch sizes of a sweep is explained by its operators."""

from __future__ import annotations

import pytest

from assay.worker.timing.compare_speed import slowest


@pytest.mark.parametrize(
    ("slowdowns", "place"),
    [
        ([0.08, 0.12, 0.15], 2),
        ([0.08, None, 0.02], 0),
        ([None, 0.05, 0.05], 1),
        ([None, None], None),
    ],
)
def test_the_batch_size_that_the_verdict_tells_of_is_explained(
    slowdowns: list[float | None], place: int | None
) -> None:
    """The worst, as told; of equals the first; an engine that is not slower needs no explanation."""
    assert slowest(slowdowns) == place

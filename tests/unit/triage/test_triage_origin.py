"""The first wrong model of those that a compiler leaves after its passes."""

from __future__ import annotations

import pytest

from assay.core.region import AfterPass
from assay.triage.origin import Origin, Stage, origin_of

RIGHT, WRONG, LOST = 1e-7, 0.4, None


@pytest.mark.parametrize(
    ("errors", "origin"),
    [
        ([WRONG, WRONG], Origin(Stage.READER, "", 2)),
        ([RIGHT, RIGHT, WRONG, WRONG], Origin(Stage.PASS, "p2", 4)),
        ([RIGHT, LOST, WRONG], Origin(Stage.UNTIL, "p2", 2)),
        ([RIGHT, LOST, RIGHT], Origin(Stage.AFTER, "", 2)),
        ([RIGHT, RIGHT, LOST], Origin(Stage.LATER, "p1", 2)),
        ([LOST, WRONG], Origin(Stage.FIRST, "p1", 1)),
        ([LOST, LOST, WRONG, WRONG], Origin(Stage.FIRST, "p2", 2)),
        ([LOST, RIGHT, WRONG], Origin(Stage.PASS, "p2", 2)),
        ([LOST, LOST], Origin()),
        ([], Origin()),
    ],
)
def test_the_first_wrong_model_names_the_stage(errors: list[float | None], origin: Origin) -> None:
    stages = [AfterPass(f"p{at}" if at else "", error) for at, error in enumerate(errors)]
    assert origin_of(stages, 0.5) == origin

"""What pays is asked more, and what dries up less."""

from __future__ import annotations

from assay.fuzz.bandit import choose, paid, spent, worth
from assay.fuzz.corpus import Arm


def test_an_arm_that_pays_is_asked_before_one_that_does_not() -> None:
    poor = spent(Arm("a", 1, "f"), 60.0)
    rich = paid(paid(spent(Arm("b", 1, "f"), 60.0)))
    assert choose([poor, rich], 1) == [rich]


def test_an_arm_that_was_never_asked_comes_first() -> None:
    asked = paid(spent(Arm("a", 1, "f"), 60.0))
    assert choose([asked, Arm("b", 1, "f")], 1)[0].generator == "b"


def test_what_was_found_long_ago_fades() -> None:
    arm = paid(paid(spent(Arm("a", 1, "f"), 10.0)))
    assert worth(spent(arm, 600.0)) < worth(arm) / 10
    assert spent(arm, 600.0).found == 2

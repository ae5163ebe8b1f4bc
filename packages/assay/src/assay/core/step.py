"""How far a long stage of a job is."""

from __future__ import annotations

import msgspec


class Step(msgspec.Struct, frozen=True):
    """At the sample `sample` of `samples`, and of its noisy evaluations at `draw` of `draws`: from 1; 0 where nothing is known."""

    sample: int = 0
    samples: int = 0
    draw: int = 0
    draws: int = 0


UNKNOWN = Step()
"""At the beginning of a stage, and in one that says nothing."""

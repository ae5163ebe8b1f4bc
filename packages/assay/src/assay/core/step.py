"""How far a long stage of a job is."""

from __future__ import annotations

import msgspec


class Step(msgspec.Struct, frozen=True):
    """The sample `sample` of `samples`, and `draw` of the `draws` noisy evaluations of it. Counts begin at 1; 0: unknown."""

    sample: int = 0
    samples: int = 0
    draw: int = 0
    draws: int = 0


UNKNOWN = Step()
"""At the beginning of a stage, and in one that says nothing."""

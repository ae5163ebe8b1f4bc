"""What the values of a tensor are like, for people: is it alive, and of the size that one expects?"""

from __future__ import annotations

import msgspec


class TensorStatistics(msgspec.Struct, frozen=True):
    """Of one output, all samples together. `least`, `most`, `mean` and `deviation` (the standard deviation of all values) are of
    the finite ones, 0 where there are none; `nans` and `infinities` are counts."""

    least: float = 0.0
    most: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0
    nans: int = 0
    infinities: int = 0

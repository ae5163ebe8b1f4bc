"""The two noisy evaluations of a coarse tolerance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.numerics.steps import at_draw
from assay.numerics.tolerance.simulate.noisy_evaluation import NoisyEvaluation, Sample
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.numerics.tolerance.simulate.spread import Spread
from assay.ports import Tensors

TURNS = 2
MARGIN = 0.7
"""Of the deviations: the derivation does not take every one of its evaluations in double and as it is, so that an element that was
loud in both of these may be less so in the mean of all."""


def draw_once(
    drawing: NoisyEvaluation, number: int, inputs: Tensors, recorder: SiteRecorder | None, pool: Any, sample: Sample
) -> None:
    """The deviations and ranges of a sample by two evaluations, as parts of those of all."""
    spread = Spread(sample.values)
    for turn in range(drawing.draws - TURNS, drawing.draws):
        at_draw(turn - drawing.draws + TURNS + 1, TURNS)
        draw = drawing.draw_of((number, turn), 1.0, recorder, pool)
        spread.add(drawing.evaluated(drawing.wide, inputs, draw), sample.values, 1.0)
    spread.note_lost(sample.values)
    share = np.float32(MARGIN * math.sqrt(TURNS / drawing.draws))
    sample.deviations = {name: deviation * share for name, deviation in spread.deviations().items()}
    sample.unstable = spread.unstable
    sample.margins.update(spread.ranges())

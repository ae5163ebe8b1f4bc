"""A coarse tolerance from two noisy evaluations: narrower than the derived one, so that what passes by it passes.

The derived tolerance takes the mean square of D noisy evaluations. The squares of two of them, divided by D, are a part of that
mean: they lie below it element by element, and everything that is judged by them (a norm, an element, a slice, a margin) is
judged more strictly. They are evaluated as the derivation itself checks its own: in double, with noise of its true size. An engine
that passes by them needs no others; one that does not is neither right nor wrong yet.

Three things do not follow from less noise alone, and are asked for here and in `real`: the derivation may judge elements of very
different noise apart (`of_one_order`), mistrusts a computation whose noise is a share of its signal, and tries itself on
built-in defects. Values on a grid and coarse types have rules of their own, and are derived at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from assay.errors import Lowering
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.noise_clusters import BAND, FEW, GAP
from assay.ports import Tensors

if TYPE_CHECKING:
    from assay.numerics.tolerance.deriving import Deriving

WORTH = 1 << 21
"""Of `work`: below, the derivation itself takes less than half a second."""
FINEST = 2.0**-20
"""Unit roundoff of float32 and finer."""
WINDOW = 4.0
"""In octaves of the standard deviation. A gap of GAP (ten octaves) in the derived noise has elements in it in two evaluations,
loud ones that are quiet by luck: one in a thousand comes down by the six octaves that leave a window of this width."""
SPARSE = 0.004
"""Of the elements on the fuller side of a window: fewer in it may be such a gap."""


def work(proto: Any, inputs: Sequence[Tensors]) -> int:
    """How much there is to derive, roughly, and the same on every machine: elements of inputs times operators, and of weights."""
    fed = sum(value.size for sample in inputs for value in sample.values())
    weights = sum(math.prod(tensor.dims) for tensor in proto.graph.initializer)
    return int(fed * len(proto.graph.node) + len(inputs) * weights)


def coarsely(deriving: Deriving, inputs: Sequence[Tensors], precision: str) -> DerivedTolerance | None:
    """The coarse tolerance; None where the derived one costs little more, or might be narrower somewhere."""
    arithmetic = deriving.arithmetic
    if not inputs or deriving.graph.rounds or arithmetic.storage > FINEST or arithmetic.weight_levels:
        return None
    try:
        derived_tolerance = deriving.once(inputs, _is_even, precision)
    except Lowering:
        return None
    if derived_tolerance is None or not _is_even(derived_tolerance):
        return None
    return DerivedTolerance(
        msgspec.structs.replace(derived_tolerance.header, coarse=True),
        derived_tolerance.oracle,
        derived_tolerance.deviation,
        derived_tolerance.margins,
    )


def _is_even(profile: DerivedTolerance) -> bool:
    real = [output for output in profile.header.outputs if output.kind == "real"]
    return all(_of_one_order(output_noise.name, output_noise.storage, profile) for output_noise in real)


def _of_one_order(name: str, storage: float, profile: DerivedTolerance) -> bool:
    variance = np.concatenate([np.square(sample[name].astype(np.float64)).reshape(-1) for sample in profile.deviation])
    oracle = np.concatenate([np.ravel(sample[name]).astype(np.float64) for sample in profile.oracle])
    counts = np.isfinite(variance) & np.isfinite(oracle)
    with np.errstate(all="ignore"):
        allowed = variance[counts] + storage**2 * np.square(oracle[counts]) / 3
    return of_one_order(allowed[allowed > 0])


def of_one_order(allowed: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Whether the derivation cannot see a gap in the noise of these elements (`statistics.clusters`), as one evaluation gives
    it, nor bands: no window of it is nearly empty, with enough elements on both of its sides, and all but a few lie within one band."""
    few = max(FEW, allowed.size // 100)
    levels = np.sort(np.log2(allowed) / 2)
    if levels.size < 2 * few or levels[-few] - levels[few - 1] <= WINDOW or np.ptp(levels) <= math.log2(GAP):
        return True
    if levels[-few] - levels[few - 1] > BAND:
        return False
    upper = np.searchsorted(levels, levels + WINDOW, side="right")
    below = np.arange(1, levels.size + 1)
    above = levels.size - upper
    inside = upper - below
    sparse = inside < SPARSE * np.maximum(below, above)
    return not bool((sparse & (below >= few) & (above >= few)).any())

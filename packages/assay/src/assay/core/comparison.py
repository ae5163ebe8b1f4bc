"""What comparing one output with its reference found."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from assay.core.finding import Finding, WorstElement
from assay.core.tensor_statistics import TensorStatistics


class Histogram(msgspec.Struct, frozen=True):
    """Counts between edges; len(edges) == len(counts) + 1."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


Direction = Literal["up", "down", "both"]
"""Which way a metric is worse. "both": away from 1 in either direction (a ratio)."""


def worse_of(worse: Direction, first: float, other: float) -> float:
    """The worse of two values of a metric; one that is not a number is the worst of all."""
    if math.isnan(first) or math.isnan(other):
        return math.nan
    if worse == "both":
        return max(first, other, key=lambda ratio: abs(ratio - 1.0))
    return max(first, other) if worse == "up" else min(first, other)


class StatedMetric(msgspec.Struct, frozen=True):
    """What a plug-in says of a metric of its own: the unit ("" for a pure number), and which way is worse."""

    unit: str
    worse: Direction


class OutsideCount(msgspec.Struct, frozen=True):
    """How many elements differ by more than `rtol * |expected| + atol`."""

    rtol: float
    atol: float
    outside: int


class Evidence(msgspec.Struct, frozen=True):
    """What any choice of fixed limits needs of an output, whatever it was judged by.

    `findings` and `degenerate` hold for all limits. `corners` are the elements that decide whether an output of real numbers is within
    limits, whatever these are (`numerics/error_envelope.py`); every other element uses at most `1 + slack` times what the worst corner
    uses. `budget` is what is used where limits are the same for every choice (whole numbers, texts, and where NaN or an infinity is on
    one side only), and `clashing` counts the latter. `compared`: false where shapes or types forbid it. `rms` and `peak` are those of
    the reference. `counts` are elements beyond some limits. `metrics` are metrics that the tolerance at hand replaced. `by_default`: a
    table that is chosen does not count here (another size, a quantized model).
    """

    findings: tuple[Finding, ...] = ()
    degenerate: Finding | None = None
    corners: tuple[WorstElement, ...] = ()
    slack: float = 0.0
    budget: float | None = None
    clashing: int = 0
    compared: bool = True
    rms: float = 0.0
    peak: float = 0.0
    counts: tuple[OutsideCount, ...] = ()
    metrics: dict[str, float] = {}
    by_default: bool = False


class Comparison(msgspec.Struct, frozen=True):
    """One output, all samples together, against its reference.

    `metrics` holds plain metrics (max_abs, max_rel, rel_l2, rmse, cosine, norm_ratio, sqnr_db, psnr_db, abs_p50, abs_p99,
    share_out_of_tolerance, budget_used ...); units are in the names. `degenerate` says why the reference or the output
    is too poor to prove anything (None if it is not); `uninformative`: it is the reference, which is empty, constant or at the
    bounds of its type, and not a doubt about the output; `share_at_bounds` of its elements are there (0.0 below a half). `at` is
    "" for the inputs of the case, or the sizes of the dynamic dimensions that it was run at besides ("batch=17"). `tolerance` is
    whose limits those are: "derived" from the graph, "learnt" from
    perturbed runs of a plain engine, "default" (a multiple of the unit roundoff, a guess where the other two were asked for), or
    "chosen" by the user; "" where results are older than the field. `actual` is what the engine's values are like.
    `stated` is what plug-ins say of the metrics that they added to `metrics`. `evidence` is what other choices of tolerance need; None
    where nothing could be compared. `excused` are elements that were not judged, and why.
    `constant_by_graph`: no input decides its numbers.
    """

    output: str
    dtype: str
    shape: tuple[int, ...]
    samples: int
    elements: int
    findings: tuple[Finding, ...] = ()
    metrics: dict[str, float] = {}
    rtol: float = 0.0
    atol: float = 0.0
    degenerate: Finding | None = None
    worst: tuple[WorstElement, ...] = ()
    error_histogram: Histogram | None = None
    ulp_histogram: Histogram | None = None
    at: str = ""
    tolerance: str = ""
    actual: TensorStatistics | None = None
    uninformative: bool = False
    share_at_bounds: float = 0.0
    stated: dict[str, StatedMetric] = {}
    evidence: Evidence | None = None
    excused: tuple[Finding, ...] = ()
    constant_by_graph: bool = False

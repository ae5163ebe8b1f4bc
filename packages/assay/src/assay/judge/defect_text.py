"""The words for what a derived tolerance was tried on, and for what decides an output that is no real number."""

from __future__ import annotations

from assay.core.defect import DefectKind, OpenRange
from assay.core.finding import Fact

_DEFECTS = {
    DefectKind.ROUNDED: "inputs and weights rounded to a unit of {size:.1e}",
    DefectKind.ALL_LOST: "all of it lost at {at}",
    DefectKind.CHANNEL_LOST: "last channel lost at {at}",
    DefectKind.CHANNEL_OF_OUTPUT_LOST: "last channel lost in {at}",
    DefectKind.TERM_LOST: "last term lost at {at}",
    DefectKind.SCALED: "scaled by {size:.6g} at {at}",
    DefectKind.SHIFTED: "shifted by one at {at}",
    DefectKind.TENSOR_ENLARGED: "'{at}' by {size:g}",
    DefectKind.INPUTS_ENLARGED: "inputs by {size:g}",
}
_RANGES = {
    OpenRange.NOISY_EVALUATIONS: "range of noisy evaluations",
    OpenRange.PERTURBED_RUNS: "range of perturbed runs",
}


def defects_text(kinds: Fact, places: Fact, sizes: Fact) -> str:
    """`last channel lost at conv1; shifted by one at conv1`, of columns."""
    assert isinstance(kinds, tuple)
    assert isinstance(places, tuple)
    assert isinstance(sizes, tuple)
    return "; ".join(
        _DEFECTS[DefectKind(str(kind))].format(at=at, size=size)
        for kind, at, size in zip(kinds, places, sizes, strict=True)
    )


def decider_text(margin: Fact) -> str:
    """The operator that decides, by its name, or the range of what may come out."""
    return _RANGES[OpenRange(str(margin))] if margin in tuple(OpenRange) else str(margin)

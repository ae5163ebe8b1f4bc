"""The words for what a derived tolerance was tried on, and for what decides an output that is no real number."""

from __future__ import annotations

from assay.core.defect import DefectKind, OpenRange
from assay.core.finding import Fact

_DEFECTS = {
    DefectKind.ROUNDED: "inputs and weights rounded to {size:.1e} of their values",
    DefectKind.ALL_LOST: "the whole answer of {at} is zero",
    DefectKind.CHANNEL_LOST: "the last channel of the answer of {at} is zero",
    DefectKind.CHANNEL_OF_OUTPUT_LOST: "the last channel of output {at} is zero",
    DefectKind.TERM_LOST: "the last term of the sums of {at} is left out",
    DefectKind.SCALED: "the answer of {at} is multiplied by {size:.6g}",
    DefectKind.SHIFTED: "the answer of {at} is shifted by one place",
    DefectKind.TENSOR_ENLARGED: "'{at}' by {size:g}",
    DefectKind.INPUTS_ENLARGED: "inputs by {size:g}",
}
_RANGES = {
    OpenRange.NOISY_EVALUATIONS: "range of noisy evaluations",
    OpenRange.PERTURBED_RUNS: "range of perturbed runs",
}


def defects_text(kinds: Fact, places: Fact, sizes: Fact) -> str:
    """`the last channel of the answer of conv1 is zero; the answer of conv1 is shifted by one place`, of columns."""
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

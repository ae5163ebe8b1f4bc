"""What is told of one output, and of its elements."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assay.core.finding import Finding, WorstElement
from assay.core.note import Note
from assay.numerics.tolerance.judge.statistics import Statistics, locate
from assay.ports import Tensor


@dataclass(frozen=True)
class OutputJudgement:
    """One output. `metrics` are budget_norm, budget_element, budget_slice, budget_used (their largest: 1 is the limit), and
    noise_share (noise over signal, both in the Euclidean norm); empty where the profile has no tolerance for the output.
    `degenerate` says why a pass proves nothing; `notes` what is odd without being wrong; `worst` the elements that use
    most of their limit; `allowed` the absolute error allowed to a typical element; `near` whether the error is so small a share of
    the signal that no defect hides in it, however much the tolerance allows."""

    output: str
    metrics: dict[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    degenerate: Finding | None = None
    notes: tuple[Note, ...] = ()
    worst: tuple[WorstElement, ...] = ()
    allowed: float = 0.0
    statistics: Statistics | None = None
    near: bool = False


def worst_at(position: int, actual: list[Tensor], expected: list[Tensor]) -> WorstElement:
    """The element at a flat position in all samples in a row."""
    index = locate(position, [array.shape for array in actual])
    place = index[1:]
    return WorstElement(index, _number(expected[index[0]][place]), _number(actual[index[0]][place]))


def _number(element: np.generic) -> int | float:
    return int(element) if element.dtype.kind in "iu" else float(element)

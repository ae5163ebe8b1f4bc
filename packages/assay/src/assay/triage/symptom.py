"""What is wrong with an answer, in terms that survive while the model is made smaller: else a reduction slips to another defect."""

from __future__ import annotations

import math
import re

import msgspec

from assay.core.outcome import Outcome
from assay.core.region import RegionError
from assay.core.result import RegionResult

WITHIN = 8.0
"""The factor within which an error has kept its size."""


class Symptom(msgspec.Struct, frozen=True):
    """`kind` is that of a `RegionError`, or an outcome with its signal or text. `output` is the value that is wrong, "" where nothing
    came back; `size` its relative L2 error; `iteration` as in `RegionError`."""

    kind: str
    output: str = ""
    size: float = 0.0
    budget: float | None = None
    iteration: int = 0
    iterations: int = 0

    def is_like(self, other: Symptom | None) -> bool:
        """Whether the other is the same failure."""
        if other is None or self.kind != other.kind:
            return False
        if self.kind != "values" or not (math.isfinite(self.size) and math.isfinite(other.size)):
            return True
        return self.size / WITHIN <= other.size <= self.size * WITHIN


def symptom_of(result: RegionResult) -> Symptom | None:
    """The gravest of a part that ran alone; None where nothing is wrong, or where the part says nothing of the backend."""
    if result.outcome is Outcome.OK:
        worst = max((one for one in result.errors if one.kind), key=_gravity, default=None)
        if worst is None:
            return None
        return Symptom(worst.kind, worst.output, worst.rel_l2, worst.budget, worst.iteration, worst.iterations)
    if result.outcome in (Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY):
        return Symptom(f"{result.outcome.value} {result.signal}".strip())
    return None


def refusal_of(result: RegionResult) -> Symptom | None:
    """Of a part that the backend does not take: its words without numbers and names."""
    if result.outcome in (Outcome.ERROR, Outcome.UNSUPPORTED, Outcome.UNDELEGATED):
        return Symptom(f"{result.outcome.value} {result.cause.value} {_without_numbers(result.detail)}")
    return None


def _gravity(error: RegionError) -> float:
    return error.budget if error.budget is not None else error.rel_l2


def _without_numbers(text: str) -> str:
    words = re.sub(r"'[^']*'|\"[^\"]*\"|[\w./-]*\d[\w./-]*", "", text)
    return " ".join(words.split())[:80]

"""What is wrong with an answer, in terms that survive while the model is made smaller: else a reduction slips to another defect."""

from __future__ import annotations

import math
import re

import msgspec

from assay.core.outcome import Cause, Outcome
from assay.core.region import RegionError
from assay.core.result import RegionResult, Result

MOST_TEXT = 100
"""Letters of what a backend says that tell one refusal from another."""
SAME_WORDS = 0.7
"""The share of its words from which a refusal is the same in another release."""
UNSTABLE = "unstable"
"""The kind of what gives other answers to the same inputs."""
SLOW = "slower"
"""The kind of what is right and takes too long; its size is the share that is more."""
TOO_SLOW = "too_slow"
"""The kind of what breaks a limit on its time, measured alone: beside no earlier engine."""
WITHIN = 8.0
"""The factor within which an error has kept its size."""
EDITED = 64.0
"""The same, where sizes and numbers change and a cure says whether it is the same failure."""

_NUMBERS = {"values", "range", "nan", "nan_lost", "lowest"}
"""What a number that was never written may be taken for."""
_CAUSES = {word for cause in Cause for word in cause.value.split("_")}
_REFUSED = (Outcome.ERROR, Outcome.UNSUPPORTED, Outcome.UNDELEGATED)


class Symptom(msgspec.Struct, frozen=True):
    """`kind` is that of a `RegionError`, UNSTABLE, or an outcome with its signal or text. `output` is the value that is
    wrong, "" where nothing came back; `size` its relative L2 error; `iteration` as in `RegionError`. `unstable`: wrong, and in another way
    in each run, as what was never written."""

    kind: str
    output: str = ""
    size: float = 0.0
    budget: float | None = None
    iteration: int = 0
    iterations: int = 0
    unstable: bool = False

    @property
    def is_refusal(self) -> bool:
        """Whether the backend raised an error, or did not take it."""
        return self.kind.partition(" ")[0] in _REFUSED

    def is_like(self, other: Symptom | None) -> bool:
        """Whether the other is the same failure."""
        if other is not None and self.unstable and {self.kind, other.kind} <= _NUMBERS:
            return True
        if other is None or self.kind != other.kind:
            return False
        if self.kind != "values" or not (math.isfinite(self.size) and math.isfinite(other.size)):
            return True
        return self.size / WITHIN <= other.size <= self.size * WITHIN

    def is_like_edited(self, other: Symptom | None, *, guarded: bool) -> bool:
        """The same of a model whose sizes and numbers were changed. `guarded`: it is right under the cure."""
        if not guarded or other is None or other.kind != "values" or self.kind != "values":
            return self.is_like(other)
        return self.size / EDITED <= other.size <= self.size * EDITED


def symptom_of(result: RegionResult) -> Symptom | None:
    """The gravest of a part that ran alone; None where nothing is wrong, or where the part says nothing of the backend."""
    if result.outcome is Outcome.OK:
        worst = max((error for error in result.errors if error.kind), key=_gravity, default=None)
        if worst is None:
            return None
        return Symptom(worst.kind, worst.output, worst.rel_l2, worst.budget, worst.iteration, worst.iterations)
    if result.outcome in (Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY):
        return Symptom(f"{result.outcome.value} {result.signal}".strip())
    return None


def refusal_of(result: Result) -> Symptom | None:
    """Of a model or a part that the backend does not take: its words without numbers and names."""
    if result.outcome in _REFUSED:
        return Symptom(f"{result.outcome.value} {result.cause.value} {_without_numbers(result.detail)}")
    return None


def _gravity(error: RegionError) -> float:
    return error.budget if error.budget is not None else error.rel_l2


def _without_numbers(text: str) -> str:
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    words = [part for part in text.split() if not re.search(r"\d|/|::|[\[\]&]", part) and re.search(r"\w", part)]
    return " ".join(words)[:MOST_TEXT].rpartition(" ")[0] if len(" ".join(words)) > MOST_TEXT else " ".join(words)


def same_words(kind: str, text: str) -> bool:
    """Whether a text has what that refusal says."""
    words = set(re.findall(r"[A-Za-z]{4,}", kind.partition(" ")[2])) - _CAUSES
    return sum(word in text for word in words) >= SAME_WORDS * len(words)

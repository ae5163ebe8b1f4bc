"""What another release of a backend does to a model: from the results of both, as codes and numbers."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import msgspec

from assay.core.outcome import Outcome
from assay.core.result import MeasureResult, Result, VerifyResult
from assay.core.result_parts import comparisons_of
from assay.core.verdict import VerdictStatus
from assay.triage.cause import Cause
from assay.triage.speed import Speed

NEARER = 1.25
"""The factor from which one release is nearer to the float64 reference than the other."""
MEMORY = 1.1
"""The factor from which it takes more memory."""
MOST_PERCENT = 5.0
"""What an upgrade may cost in speed, unless the user says otherwise: other code is laid out in another way."""
_REFUSED = (Outcome.UNSUPPORTED, Outcome.UNDELEGATED)
_NOT_RUN = (Outcome.UNAVAILABLE, Outcome.INFRASTRUCTURE)
"""It says nothing of the model."""


class Answers(enum.StrEnum):
    """Of the new release beside the old one."""

    SAME = "same"
    NEARER = "nearer"
    FARTHER = "farther"
    WRONG = "wrong"
    RIGHT_AGAIN = "right_again"
    WRONG_BOTH = "wrong_both"
    NEWLY_SUPPORTED = "newly_supported"
    NEWLY_REFUSED = "newly_refused"
    REFUSED_BOTH = "refused_both"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


class Lost(msgspec.Struct, frozen=True):
    """The metric by which a model is slower: by how much, and how much is allowed, in percent."""

    metric: str
    percent: float
    allowed: float


class ModelChange(msgspec.Struct, frozen=True):
    """One model. `old_error` and `new_error` are relative L2 distances from float64; `ratio` is the new time over the old one (None: not
    compared), `lost` what is slower, where something is; `memory` is that of the peaks of run."""

    model: str
    answers: Answers
    old_error: float | None = None
    new_error: float | None = None
    speed: Speed = Speed.UNKNOWN
    ratio: float | None = None
    lost: Lost | None = None
    memory: float | None = None
    detail: str = ""


class Upgrade(msgspec.Struct, frozen=True):
    """All models. `causes` are those of what is wrong in the new release alone."""

    backend: str
    old: str
    new: str
    models: tuple[ModelChange, ...]
    causes: tuple[Cause, ...] = ()

    @property
    def stops(self) -> tuple[ModelChange, ...]:
        """The models for which the upgrade is no way."""
        bad = (Answers.WRONG, Answers.NEWLY_REFUSED, Answers.UNREADABLE, Answers.UNKNOWN)
        return tuple(model for model in self.models if model.answers in bad or model.speed is Speed.SLOWER)

    @property
    def options(self) -> dict[str, object]:
        """Those with which every model that is wrong is right again; empty where that is not known."""
        wrong = {model.model for model in self.models if model.answers is Answers.WRONG}
        cured = {cause.model: cause.cures[0].options for cause in self.causes if cause.cures and cause.whole_cured}
        if not wrong or wrong != cured.keys() or any(stop.model not in wrong for stop in self.stops):
            return {}
        joined: dict[str, object] = {}
        for options in cured.values():
            if any(joined.get(name, value) != value for name, value in options.items()):
                return {}
            joined |= options
        return joined

    @property
    def way(self) -> str:
        """`go`, `go with options`, or `stay`."""
        return "go" if not self.stops else "go with options" if self.options else "stay"


def changed(
    model: str, old: Sequence[Result], new: Sequence[Result], words: Sequence[VerdictStatus | None]
) -> ModelChange:
    """From the results of both releases and the verdicts on their answers (old, new; None where there is none)."""
    before, after = (next((result for result in each if isinstance(result, VerifyResult)), None) for each in (old, new))
    if before is None or after is None:
        return ModelChange(model, Answers.UNKNOWN, detail="a release gave no result")
    mine, theirs = _error(after), _error(before)
    answers = _answers(before, after, words, theirs, mine)
    blamed = before if before.outcome in _NOT_RUN else after
    detail = blamed.detail if answers in (Answers.WRONG, Answers.NEWLY_REFUSED, Answers.UNKNOWN) else ""
    return ModelChange(model, answers, theirs, mine, memory=_memory(old, new), detail=detail)


def _answers(
    before: VerifyResult,
    after: VerifyResult,
    words: Sequence[VerdictStatus | None],
    old_error: float | None,
    new_error: float | None,
) -> Answers:
    if any(verify_result.outcome in _NOT_RUN for verify_result in (before, after)):
        return Answers.UNKNOWN
    refused = tuple(verify_result.outcome in _REFUSED for verify_result in (before, after))
    if any(refused):
        known = {(True, True): Answers.REFUSED_BOTH, (True, False): Answers.NEWLY_SUPPORTED}
        return known.get((refused[0], refused[1]), Answers.NEWLY_REFUSED)
    red = tuple(word in (VerdictStatus.FAIL, VerdictStatus.ERROR) for word in words)
    if any(red):
        known = {(True, True): Answers.WRONG_BOTH, (True, False): Answers.RIGHT_AGAIN}
        return known.get((red[0], red[1]), Answers.WRONG)
    if any(word is not VerdictStatus.PASS for word in words):
        return Answers.UNKNOWN
    if old_error is None or new_error is None or old_error == new_error:
        return Answers.SAME
    if new_error * NEARER < old_error:
        return Answers.NEARER
    return Answers.FARTHER if new_error > NEARER * old_error else Answers.SAME


def _error(result: VerifyResult) -> float | None:
    """Of the worst output."""
    known = [
        comparison.metrics["rel_l2"]
        for comparison in comparisons_of(result)
        if "rel_l2" in comparison.metrics and not comparison.at
    ]
    finite = [value for value in known if math.isfinite(value)]
    return max(finite, default=None)


def _memory(old: Sequence[Result], new: Sequence[Result]) -> float | None:
    peaks = [
        next((result.memory.run_peak_bytes for result in each if isinstance(result, MeasureResult)), 0)
        for each in (old, new)
    ]
    return peaks[1] / peaks[0] if all(peaks) else None

"""What the judge thinks of one job while it goes through the rules; becomes a verdict at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from assay.core.comparison import StatedMetric
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.core.result_parts import comparisons_of, measurements_of
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge.metric_registry import unit
from assay.judge.outcome_table import OUTCOMES

REFUSALS = frozenset({Cause.REFUSED, Cause.OPERATOR_UNSUPPORTED, Cause.OPSET_TOO_NEW})
BUILDING = frozenset({Stage.TRANSFORM, Stage.LOWER})


def is_refusal(result: Result) -> bool:
    """Whether the backend or an importer before it did not take the model: it is not supported, however the library put that."""
    said_no = result.outcome is Outcome.ERROR and result.cause in REFUSALS and result.stage in BUILDING
    return said_no or result.outcome is Outcome.UNSUPPORTED


class DraftVerdict(msgspec.Struct, frozen=True):
    """One job, judged so far. `outcome` is as recorded, or what the policy's budget makes of it; None: no result. `doubt` is why the
    answers are neither right nor wrong, without the advice that `reason` ends with."""

    job_key: str
    word: VerdictStatus
    reason: str
    outcome: Outcome | None = None
    result: Result | None = None
    metric: str = ""
    observed: float | None = None
    allowed: float | None = None
    by_stated_limit: bool = False
    doubt: str = ""

    @property
    def cell(self) -> tuple[str, str]:
        """Case and flow."""
        case, flow, _ = split_key(self.job_key)
        return case, flow

    @property
    def kind(self) -> str:
        return split_key(self.job_key)[2]

    @property
    def ended(self) -> bool:
        """Whether the job reached its end, so that a metric it has not recorded is one that it will never record."""
        result = self.result
        return result is not None and (
            OUTCOMES[result.outcome].ended or bool(comparisons_of(result) or measurements_of(result))
        )

    def verdict(self) -> Verdict:
        return Verdict(
            self.word, self.reason, self.job_key, self.metric, self.observed, self.allowed, self.by_stated_limit
        )


class Violation(msgspec.Struct, frozen=True):
    """Why something is not as the policy wants it: the word it earns, one sentence, the metrics if any, and what to do."""

    word: VerdictStatus
    text: str
    metric: str = ""
    observed: float | None = None
    allowed: float | None = None
    advice: str = ""


def split_key(job_key: str) -> tuple[str, str, str]:
    """Case, flow and kind of a job key. Raises ValueError for a text that is no job key."""
    parts = job_key.rsplit("|", 2)
    if len(parts) != 3:
        raise ValueError(f"'{job_key}' is not a job key of the form case|flow|kind")
    return parts[0], parts[1], parts[2]


def unless_said(text: str, name: str, words: str) -> str:
    """`words` of a name, "" where there is none or a library's own words have it already."""
    return words if name and name not in text else ""


def quantity(metric: str, value: float, stated: Mapping[str, StatedMetric] = {}) -> str:
    """A value for people's eyes: four digits and the unit; bytes are counted out."""
    name = unit(metric, stated)
    if math.isnan(value):
        return f"not a number {name}".rstrip()
    text = f"{value:,.0f}" if name == "bytes" and math.isfinite(value) else f"{value:.4g}"
    return f"{text} {name}".rstrip()

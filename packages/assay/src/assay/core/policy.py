"""Limits, expected outcomes and counts: what a reviewed file demands of results."""

from __future__ import annotations

import msgspec

from assay.core.outcome import FAILS_BY_DEFAULT
from assay.core.speed import SpeedRule

ABSOLUTE = {"max": "at most", "min": "at least", "equal": "exactly"}
"""Limits of a goal in the metric's own unit, each with its words."""
RELATIVE = {"max_degradation": "worse by at most", "percent_max_degradation": "worse in percent by at most"}
"""Limits against a baseline."""
LIMITS = ABSOLUTE | RELATIVE


class Goal(msgspec.Struct, frozen=True):
    """A limit over one recorded metric, for the cells that the globs match.

    Exactly one of: `max`, `min`, `equal` (absolute, in the metric's own unit), `max_degradation` (absolute difference to the
    baseline, in the bad direction), `percent_max_degradation` (the same in percent of the baseline).
    `noise`: a degradation of no more than this, in the metric's own unit, never counts, whatever its percentage.
    `against` names the baseline: "run" (the run given as baseline) or "flow:<name>" (that flow in the same run).
    `option` is the option of the command line that states it, "" where a file does.
    """

    metric: str
    max: float | None = None
    min: float | None = None
    max_degradation: float | None = None
    percent_max_degradation: float | None = None
    flow: str = "*"
    case: str = "*"
    against: str = "run"
    equal: float | None = None
    noise: float = 0.0
    option: str = ""

    @property
    def limits(self) -> dict[str, float]:
        """Those that it states, by name."""
        return {name: limit for name in LIMITS if (limit := getattr(self, name)) is not None}

    @property
    def place(self) -> str:
        """Where a person changes it."""
        return self.option or "[[policy.goal]]"


class Expectation(msgspec.Struct, frozen=True):
    """A known outcome: reason and issue say why it is accepted, `expires` (ISO date, "" never) until when. A pass instead
    fails the run, unless the expectation is not `strict`. `stage` "": in any. `versions` (`onnxruntime==1.31.*`) are those that it is
    known of; (): all. On another version it expects nothing: a pass is a fix, a failure is the defect in that version, too."""

    case: str
    flow: str
    outcome: str
    reason: str
    issue: str = ""
    expires: str = ""
    kind: str = "*"
    strict: bool = True
    stage: str = ""
    versions: tuple[str, ...] = ()


PASSABLE = ("undelegated", "unsupported")
"""Outcomes that a policy may count as a pass: a backend says that it takes nothing of the model."""


class Policy(msgspec.Struct, frozen=True):
    """Everything a verdict may depend on beside the results. `minimum_cases` maps a flow glob to a count; `speed`
    says when a comparison is lost.

    `fail_on` are outcomes that fail a job; `unsupported`, `mistrusted` ... not in it become skip or inconclusive. `pass_on` are
    outcomes of a backend that takes nothing of a model (undelegated, unsupported) that count as a pass.
    """

    goals: tuple[Goal, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    minimum_cases: dict[str, int] = {}
    budget_max: float = 1.0
    fail_on: tuple[str, ...] = tuple(outcome.value for outcome in FAILS_BY_DEFAULT)
    speed: SpeedRule = SpeedRule()
    pass_on: tuple[str, ...] = ()

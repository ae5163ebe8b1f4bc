"""What one check of a submission found: an outcome, a sentence, and the line of the file at fault."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class CheckOutcome(StrEnum):
    """INFRASTRUCTURE blames nobody and never declines; UNDECIDED asks a person; SKIPPED was never executed."""

    PASSED = "passed"
    FAILED = "failed"
    WAIVED = "waived"
    SKIPPED = "skipped"
    UNDECIDED = "undecided"
    INFRASTRUCTURE = "infrastructure"


class Check(msgspec.Struct, frozen=True):
    """`name` is `group.what` ("compliance.graph"); `path` is relative to the submission and `line` counts from 1, 0 for
    none; `executed` counts the cases that really ran; `metrics` are measured, units in their names. `stops`: after this failure no
    backend can run the model; `costly`: nothing may, for it would take all memory or not end; `of_runtime`: what a notebook met is an
    exception of the runtime, of the model."""

    name: str
    outcome: CheckOutcome
    sentence: str
    path: str = ""
    line: int = 0
    executed: int = 0
    seconds: float = 0.0
    figures: dict[str, float | str] = {}
    stops: bool = False
    costly: bool = False
    of_runtime: bool = False

    @property
    def group(self) -> str:
        """artifacts, files, compliance, functionality, accuracy or performance."""
        return self.name.partition(".")[0]


GROUPS = ("files", "artifacts", "compliance", "functionality", "accuracy", "performance")
"""In the order in which they run; what fails in files is not opened by those after it."""
EXECUTING = ("compliance", "functionality", "accuracy", "performance")
"""Groups that run something of the submission: each must have executed before anything is promoted."""

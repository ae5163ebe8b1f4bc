"""Questions about parts of the graph: each a job in the pool, asked once, while there is time."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import Any

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.job import RegionJob
from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.result import RegionResult, Result
from assay.errors import HarnessError
from assay.pipeline.adapters import Services
from assay.triage.symptom import Symptom, refusal_of, symptom_of


class OutOfTime(HarnessError):
    """The time that a user gave is over: what is known so far is reported."""


async def within(job: Job, deadline: float, services: Services) -> Result:
    """Not beyond the deadline. Raises OutOfTime where it is over, before the job or while it runs."""
    left = deadline - time.monotonic()
    if left <= 0.0:
        raise OutOfTime("the time is over")
    limits = replace(job.limits, timeout_s=min(job.limits.timeout_s, left))
    result = await services.jobs.run(replace(job, limits=limits))
    if result.outcome is Outcome.TIMEOUT and left < job.limits.timeout_s:
        raise OutOfTime("the time is over")
    return result


@dataclass
class Prober:
    """`job` is the question that all others are made from. `asked` counts those that were not known already. `refusal` is the kind of
    symptom of a model that the backend refuses ("": another is looked for, and what is refused says nothing). `versions` are those that
    answered. Each question is asked up to `tries` times, where the model fails seldom. `unstable`: it is wrong in another way each time."""

    services: Services
    job: RegionJob
    deadline: float
    asked: int = 0
    refusal: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    tries: int = 1
    unstable: bool = False
    _known: dict[str, RegionResult] = field(default_factory=dict)

    def screen(self, error: float) -> None:
        """From now on what is off by less is right without a tolerance of its own."""
        self.job = replace(self.job, screen=error)

    async def ask(self, windows: Sequence[Collection[int]], flow: Flow | None = None, **changes: Any) -> RegionResult:
        """What the flow (that of the job, unless another is named) makes of these parts; of `tries`, the first that fails. Raises
        OutOfTime."""
        result = await self._ask(windows, flow, changes)
        for attempt in range(1, 1 if "attempt" in changes else self.tries):
            if self.symptom_of(result) is not None:
                break
            result = await self._ask(windows, flow, {**changes, "attempt": attempt})
        return result

    async def _ask(
        self, windows: Sequence[Collection[int]], flow: Flow | None, changes: dict[str, Any]
    ) -> RegionResult:
        key = tuple(tuple(sorted(window)) for window in windows)
        if not changes.get("derive", True):
            changes = {**changes, "screen": 0.0}  # has no say, and would make it another question
        job = replace(self.job, windows=key, flow=flow or self.job.flow, **changes)
        if job.key not in self._known:
            self.asked += 1
            result = await within(job, self.deadline, self.services)
            assert isinstance(result, RegionResult)
            self._known[job.key] = result
            self.versions = result.versions or self.versions
        return self._known[job.key]

    def symptom_of(self, result: RegionResult) -> Symptom | None:
        """Also that the part is refused as the model is, where that is looked for."""
        refused = refusal_of(result) if self.refusal else None
        if refused is not None and refused.kind == self.refusal:
            return refused
        symptom = symptom_of(result)
        return replace(symptom, unstable=True) if symptom is not None and self.unstable else symptom

    def late(self) -> Prober:
        """The same without a deadline, for what is kept of the best so far; asked once."""
        return Prober(self.services, self.job, math.inf)

    def on(self, values_dir: str) -> Prober:
        """The same, of another graph."""
        job = replace(self.job, values_dir=values_dir)
        return dataclass_replace(self, job=job)

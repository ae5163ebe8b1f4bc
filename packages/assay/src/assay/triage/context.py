"""What is known of one red verdict before it is looked into."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from assay import plugins
from assay.core.job import RegionJob, ValuesJob, VerifyJob, other_kind
from assay.core.outcome import Outcome
from assay.core.result import (
    RegionResult,
    Result,
    ValuesResult,
    VerifyResult,
)
from assay.core.result_parts import comparisons_of
from assay.judge.words.repeats_text import instability
from assay.pipeline.adapters import Services
from assay.ports import Backend
from assay.triage.cause import Pattern
from assay.triage.graph import Graph, Places
from assay.triage.prober import Prober, within
from assay.triage.symptom import UNSTABLE, Symptom, refusal_of


@dataclass
class Context:
    """`end` is what the verdict says of the model's outputs, `sample` where that is worst. `patterns` are those of causes that are known.
    `builds` engines of a part are compared where answers differ from run to run. `tell` is called with each sentence that a person who
    waits should see."""

    job: VerifyJob
    end: Symptom
    sample: int
    services: Services
    folder: Path
    deadline: float
    patterns: Sequence[Pattern] = ()
    tell: Callable[[str], None] = lambda text: None
    builds: int = 1
    begin: float = field(default_factory=time.monotonic)

    @property
    def backend(self) -> Backend:
        """Of the flow; its library is not imported here."""
        made: Backend = plugins.load("assay.backends", self.job.flow.backend)()
        return made

    async def values(self) -> ValuesResult:
        """Every value of the model in float64. Raises OutOfTime."""
        job = other_kind(self.job, ValuesJob, values_dir=str(self.folder / "values"), sample=self.sample)
        result = await within(job, self.deadline, self.services)
        assert isinstance(result, ValuesResult)
        return result

    def prober(self) -> Prober:
        """Of the parts of the model."""
        job = other_kind(self.job, RegionJob, values_dir=str(self.folder / "values"), windows=())
        refusal = self.end.kind if self.end.is_refusal else ""
        return Prober(self.services, job, self.deadline, refusal=refusal, unstable=self.end.unstable)


@dataclass(frozen=True)
class Whole:
    """The model under triage, and how wrong it is as a whole: rebuilt from the values, without any tap."""

    context: Context
    graph: Graph
    prober: Prober
    everything: Places
    result: RegionResult

    @property
    def error(self) -> float:
        """At the outputs, relative L2."""
        return end_error(self.result)

    @property
    def versions(self) -> dict[str, str]:
        """Those that answered; none where each process died."""
        return self.result.versions or self.prober.versions


def end_error(result: RegionResult) -> float:
    """Of the worst output of a part that ran alone; infinite where nothing came back."""
    return max((error.rel_l2 for error in result.errors), default=float("inf"))


def end_of(result: Result) -> Symptom:
    """What is wrong at the outputs of the model, as far as a size can be given."""
    steady = not isinstance(result, VerifyResult) or result.outcome is not Outcome.OK or not instability(result)
    unstable = result.outcome is Outcome.NONDETERMINISTIC or not steady
    if unstable:
        return replace(_wrong_answer(result), unstable=True) if _is_wrong(result) else Symptom(UNSTABLE)
    if result.outcome is not Outcome.MISMATCH:
        return refusal_of(result) or Symptom(f"{result.outcome.value} {result.signal}".strip())
    return _wrong_answer(result)


def _is_wrong(result: Result) -> bool:
    """The first answer, whatever later ones are."""
    return bool(getattr(result, "findings", ())) or any(
        comparison.findings for comparison in comparisons_of(result) if not comparison.at
    )


def _wrong_answer(result: Result) -> Symptom:
    findings = getattr(result, "findings", ())
    wrong = {finding.output for finding in findings}
    compared = [comparison for comparison in comparisons_of(result) if not comparison.at]
    bad = [comparison for comparison in compared if comparison.findings or comparison.output in wrong] or compared
    worst = max(bad, key=lambda comparison: comparison.metrics.get("budget_used", 0.0), default=None)
    if worst is None:
        return Symptom("values", next(iter(wrong), ""))
    return Symptom("values", worst.output, worst.metrics.get("rel_l2", float("inf")), worst.metrics.get("budget_used"))


def failing_sample(result: Result) -> int:
    """The sample with the worst element of the worst output."""
    output = end_of(result).output
    worst = [
        comparison.worst
        for comparison in comparisons_of(result)
        if comparison.output == output and comparison.worst and not comparison.at
    ]
    return worst[0][0].index[0] if worst and worst[0][0].index else 0


async def explained(whole: Whole, places: Places) -> float | None:
    """The share of the end's error that goes when these parts give right values; None where the rest alone cannot be run."""
    rest = whole.everything - places
    outputs = [name for name in whole.graph.outputs if whole.graph.producer.get(name) in rest]
    if not outputs:
        return 1.0
    needed: set[int] = set()
    for name in outputs:
        needed |= whole.graph.before(name, rest)
    result = await whole.prober.ask([whole.graph.closed(needed) - places], outputs=tuple(outputs), derive=False)
    if result.outcome is not Outcome.OK or not whole.error:
        return None
    left = max((error.rel_l2 for error in result.errors), default=0.0)
    return max(0.0, 1.0 - left / whole.error)

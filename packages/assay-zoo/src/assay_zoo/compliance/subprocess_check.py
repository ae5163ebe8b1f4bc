"""A model is examined in a limited process, again without the step that killed it: that it died is a finding."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import MODEL
from assay.errors import HarnessError
from assay_zoo.compliance.child import TARGET
from assay_zoo.compliance.request import Request, Stepped
from assay_zoo.compliance.sentences import sentence
from assay_zoo.limited_process import Ending, Looked, run_until_lost

MOST_DEATHS = 2
"""Of the process on one model: then the steps that are left are not tried."""
_WRITTEN_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class ChildLimits:
    """`seconds` of a processor for each step."""

    seconds: float = 60.0
    memory_bytes: int = 4_000_000_000


@dataclass
class ChildReport:
    """`unseen` says why a part without a finding is not sound for all that; `puzzles` are for a person."""

    findings: list[ModelFinding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    puzzles: list[str] = field(default_factory=list)
    unseen: str = ""


def examine_apart(request: Request, limits: ChildLimits) -> ChildReport:
    """Everything that can be found out about a model without opening it here. Raises HarnessError."""
    from assay_zoo.compliance.steps import steps_of

    child_report, steps, deaths = ChildReport(), list(steps_of(request)), 0
    asked = msgspec.to_builtins(request)
    while True:
        answers = run_until_lost(
            TARGET, [{"request": asked, "step": step} for step in steps], seconds=limits.seconds,
            memory_bytes=limits.memory_bytes, written_bytes=_WRITTEN_BYTES,
        )  # fmt: skip
        lost = [
            step for step, answer in zip(steps, answers, strict=False) if not _heard(step, answer, limits, child_report)
        ]
        deaths += len(lost)
        if "parse" in lost or deaths >= MOST_DEATHS or (len(answers) == len(steps) and steps[-1] not in lost):
            return child_report
        steps = [step for step in steps if step not in lost]


def _heard(step: str, answer: Looked, limits: ChildLimits, child_report: ChildReport) -> bool:
    """Whether the step came to its end; what it found is told once, however often it is taken."""
    if answer.ending is Ending.HARNESS:
        raise HarnessError(f"the process that looks at a model, in the step {step!r}: {answer.sentence}")
    if answer.ending is not Ending.OK:
        died = ModelFinding(Area.MODEL, "checker-died", MODEL, (_death(answer, limits), repr(step)))
        child_report.findings.append(died)
        child_report.unseen = sentence(died)
        return False
    stepped = msgspec.convert(answer.value, Stepped)
    child_report.counts = stepped.counts
    child_report.findings += [finding for finding in stepped.findings if finding not in child_report.findings]
    puzzle = f"the step {step!r} does not know what to make of this model ({stepped.puzzle}); a person must look"
    if stepped.puzzle and puzzle not in child_report.puzzles:
        child_report.puzzles.append(puzzle)
    return True


def _death(answer: Looked, limits: ChildLimits) -> str:
    return {
        Ending.OUT_OF_MEMORY: f"ran out of memory ({limits.memory_bytes} bytes)",
        Ending.NESTED: "ran out of stack: the model nests or calls too deeply",
        Ending.TIMEOUT: f"did not end within {limits.seconds:g} s of processor time",
    }.get(answer.ending, "crashed")

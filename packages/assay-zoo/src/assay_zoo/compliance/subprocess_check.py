"""The child started, listened to, and started again without the step that killed it: that it died is a finding."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

import msgspec

from assay.core.model_finding import Area, ModelFinding
from assay.errors import HarnessError
from assay_zoo.compliance.child import OUT_OF_MEMORY, TOO_DEEP
from assay_zoo.compliance.process import ChildLimits, CompletedChild, ending, run_child
from assay_zoo.compliance.request import Answer, Finished, Found, Request, StepStarted, Undecided
from assay_zoo.compliance.sentences import sentence

MODULE = "assay_zoo.compliance.child"
_OPTIONAL = "execution"
"""Running the model is the business of functionality, which has limits of its own: a death there is told there."""

MOST_DEATHS = 2
"""Of the child on one model: then the steps that are left are not tried."""


@dataclass
class ChildReport:
    """`unseen` says why a part without a finding is not sound for all that; `puzzles` are for a person."""

    findings: list[ModelFinding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    puzzles: list[str] = field(default_factory=list)
    unseen: str = ""


def examine_apart(request: Request, limits: ChildLimits) -> ChildReport:
    """Everything that can be found out about a model without opening it here. Raises HarnessError."""
    found = ChildReport()
    skip: list[str] = []
    while True:
        asked = msgspec.structs.replace(request, skip=tuple(skip))
        ran = run_child(MODULE, msgspec.json.encode(asked), limits)
        step, ended = _listen(ran, found)
        if ended:
            return found
        if not step:
            raise HarnessError(f"the process that looks at a model {ending(ran)} before it began: {ran.errors[-300:]}")
        if ran.late or ran.code == -signal.SIGKILL:
            # It was not stopped by a limit of its own, so by the machine or by somebody.
            raise HarnessError(
                f"the process that looks at a model {ending(ran)} in the step {step!r}; look again later"
            )
        if step != _OPTIONAL:
            finding = ModelFinding(Area.MODEL, "checker-died", "", (_death(ran, limits), repr(step)))
            found.findings.append(finding)
            found.unseen = sentence(finding)
        if step == "parse" or len(skip) >= MOST_DEATHS - 1:
            return found
        skip.append(step)


def _listen(ran: CompletedChild, found: ChildReport) -> tuple[str, bool]:
    """The step entered last, and whether all are through."""
    known = set(found.findings)
    step = ""
    for line in ran.output.splitlines():
        try:
            answer = msgspec.json.decode(line, type=Answer)
        except msgspec.DecodeError:
            break  # cut short by its death
        match answer:
            case StepStarted(name):
                step = name
            case Found(finding) if finding not in known:
                found.findings.append(finding)
            case Undecided(name, why):
                words = f"the step {name!r} does not know what to make of this model ({why}); a person must look"
                if words not in found.puzzles:
                    found.puzzles.append(words)
            case Finished(counts):
                found.counts = dict(counts)
                return step, True
    return step, False


def _death(ran: CompletedChild, limits: ChildLimits) -> str:
    if ran.code == OUT_OF_MEMORY:
        return f"ran out of memory ({limits.memory_bytes} bytes)"
    if ran.code == TOO_DEEP:
        return "ran out of stack: the model nests or calls too deeply"
    if ran.code == -signal.SIGXCPU:
        return f"did not end within {limits.seconds} s of processor time"
    return "crashed" if ran.code < 0 else ending(ran)

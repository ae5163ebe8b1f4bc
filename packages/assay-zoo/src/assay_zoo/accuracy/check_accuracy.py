"""Accuracy: both notebooks executed in the sandbox, the metric compared with the claim, and computed again without them."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from dataclasses import dataclass

from assay.judge.words.missing_text import missing_text
from assay.ports import Sandbox
from assay_zoo.accuracy.execution import execute
from assay_zoo.accuracy.metric import file_wanted, read_metric
from assay_zoo.accuracy.metric_depends import depends_check, rests_on_notebook
from assay_zoo.accuracy.recompute import recompute
from assay_zoo.accuracy.stored_outputs import outputs_check
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.metadata import Claim
from assay_zoo.submission import SubmissionContext, SubmissionServices
from assay_zoo.zoo_files import METADATA

NEEDS = ("nbclient", "nbformat", "ipykernel")
_INFERENCE, _VALIDATION = "accuracy.inference", "accuracy.validation"
_CLAIM, _MINIMUM = "accuracy.claim", "accuracy.minimum"


@dataclass(frozen=True)
class Better:
    """Which way is better, and how far `worse` lies on the other side."""

    higher: bool

    def worse_by(self, value: float, than: float) -> float:
        """Positive where `value` is worse; infinite for NaN."""
        if math.isnan(value):
            return math.inf
        return than - value if self.higher else value - than


def check_accuracy(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """accuracy.inference, .validation, .outputs, .claim, .depends, .minimum and .recomputed."""
    if place.metadata is None:
        return [Check("accuracy.all", CheckOutcome.SKIPPED, f"not executed: {METADATA} cannot be read")]
    return [*_by_notebook(place, tools), *recompute(place, tools)]


def _by_notebook(place: SubmissionContext, tools: SubmissionServices) -> Iterator[Check]:
    assert place.metadata is not None
    metadata, claim = place.metadata, place.metadata.accuracy
    if place.notebooks_wait_for:
        text = f"not executed: it waits for {place.notebooks_wait_for}, which must hold first"
        yield from (Check(name, CheckOutcome.SKIPPED, text) for name in (_INFERENCE, _VALIDATION, _CLAIM))
        return
    sandbox, why = _sandbox(tools)
    if sandbox is None:
        outcome = CheckOutcome.UNDECIDED if place.policy.demand_sandbox else CheckOutcome.SKIPPED
        for name in (_INFERENCE, _VALIDATION):
            yield Check(name, outcome, f"the notebook was not executed: {why}")
        yield Check(_CLAIM, CheckOutcome.SKIPPED, "the validation notebook was not executed")
        return
    shown = execute(_INFERENCE, metadata.inference, "", place, sandbox, tools.scratch / "inference")
    yield shown.check
    wanted = file_wanted(claim.read)
    done = execute(_VALIDATION, metadata.validation, wanted, place, sandbox, tools.scratch / "validation")
    yield done.check
    ran = {metadata.inference: shown.report, metadata.validation: done.report}
    yield outputs_check({path: report for path, report in ran.items() if report is not None})
    if done.report is None:
        yield Check(_CLAIM, CheckOutcome.SKIPPED, f"{metadata.validation} did not run to its end")
        return
    metric = read_metric(claim.read, done.report, done.output)
    if metric.value is None:
        yield Check(_CLAIM, CheckOutcome.FAILED, metric.sentence, metadata.validation, metric.line)
        return
    yield _claimed(place, claim, metric.value, metadata.validation, metric.line)
    if rests_on_notebook(place):
        yield depends_check(place, metric.value, sandbox, tools.scratch)
    yield _least(place, metric.value, metadata.validation, metric.line)


def _sandbox(tools: SubmissionServices) -> tuple[Sandbox | None, str]:
    missing = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        return None, f"{', '.join(missing)} is not installed; pip install assay-zoo"
    if tools.sandbox is None:
        return None, "there is no sandbox here, and code of a submission runs nowhere else (apt-get install bubblewrap)"
    here = tools.sandbox.available()
    if not here.available:
        return None, missing_text(here)
    return tools.sandbox, ""


def _claimed(place: SubmissionContext, claim: Claim, value: float, path: str, line: int) -> Check:
    """Which way is better says the scenario: a claim in the other direction is a finding of artifacts.metadata."""
    direction = place.scenario.direction if place.scenario else claim.direction
    figures: dict[str, float | str] = {"measured": value, "claimed": claim.value, "tolerance": claim.tolerance}
    worse = Better(direction == "higher").worse_by(value, claim.value)
    text = f"{claim.metric} is {value:.6g}, claimed {claim.value:.6g} within {claim.tolerance:g}"
    if worse > claim.tolerance:
        return Check(_CLAIM, CheckOutcome.FAILED, text, path, line, figures=figures)
    if worse < -claim.tolerance:
        text += ": better than the claim"
    return Check(_CLAIM, CheckOutcome.PASSED, text, path, line, executed=1, figures=figures)


def _least(place: SubmissionContext, value: float, path: str, line: int) -> Check:
    scenario = place.scenario
    if scenario is None or scenario.minimum is None:
        why = "the scenario asks for no minimum" if scenario else "the zoo does not have its scenario"
        return Check(_MINIMUM, CheckOutcome.SKIPPED, why)
    worse = Better(scenario.direction == "higher").worse_by(value, scenario.minimum)
    side = "at least" if scenario.direction == "higher" else "at most"
    text = f"{scenario.metric} is {value:.6g}; scenario {scenario.name!r} asks for {side} {scenario.minimum:g}"
    figures: dict[str, float | str] = {"measured": value, "minimum": scenario.minimum}
    if worse > 0:
        return Check(_MINIMUM, CheckOutcome.FAILED, text, path, line, figures=figures)
    return Check(_MINIMUM, CheckOutcome.PASSED, text, path, line, executed=1, figures=figures)

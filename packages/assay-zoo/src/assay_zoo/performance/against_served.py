"""`performance.slower`: the submission and the version that is served now, side by side, by the performance gate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from assay.config.toml_errors import read
from assay.core.case import Inputs
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.speed import SpeedRule
from assay.core.verdict import VerdictStatus
from assay.errors import BadGolden, BadModel, BadPolicy, UsageError
from assay.pipeline.compare import CompareRequest, compare
from assay.plugins import find_flow
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.functionality.golden_sets import limits_of
from assay_zoo.metadata import Metadata
from assay_zoo.submission import SubmissionContext, SubmissionServices
from assay_zoo.zoo_files import METADATA

NAME = "performance.slower"
_OUTCOMES = {VerdictStatus.PASS: CheckOutcome.PASSED, VerdictStatus.FAIL: CheckOutcome.FAILED}


def against_previous(place: SubmissionContext, inputs: Path, tools: SubmissionServices) -> Iterator[Check]:
    """Slower by more than the policy's `slower` fails; an undecided comparison needs a person. `inputs` is a folder as a golden is."""
    assert place.metadata is not None
    if place.previous is None:
        yield _check(CheckOutcome.SKIPPED, "the zoo serves no earlier version")
        return
    begin = time.perf_counter()
    try:
        before = read(place.previous / METADATA).validate(Metadata)
    except (BadPolicy, OSError) as error:
        yield _check(CheckOutcome.UNDECIDED, f"the version that is served now cannot be read: {error}")
        return
    if before.version == place.metadata.version:
        yield _check(CheckOutcome.SKIPPED, f"{before.version} is the version that is served now")
        return
    flow = find_flow(place.policy.flows[0])
    request = CompareRequest(
        old=place.previous / before.model,
        new=place.folder / place.metadata.model,
        old_flow=flow,
        new_flow=flow,
        inputs=Inputs(given=str(inputs)),
        policy=Policy(speed=SpeedRule(min_slowdown=place.policy.slower, margin=2.0 * place.policy.slower)),
        limits=limits_of(place.policy.run),
        command="assay zoo check",
    )
    try:
        checked = compare(request, tools.services)
    except (UsageError, BadModel, BadGolden) as error:
        yield _check(CheckOutcome.UNDECIDED, f"it cannot be compared with {before.version}: {error}")
        return
    (result,), (verdict,) = checked.results, checked.judgement.verdicts
    ours = result.outcome in (Outcome.INFRASTRUCTURE, Outcome.UNAVAILABLE)
    outcome = CheckOutcome.INFRASTRUCTURE if ours else _OUTCOMES.get(verdict.word, CheckOutcome.UNDECIDED)
    yield _check(
        outcome,
        f"the version that is served now is {before.version}; {verdict.reason.replace(str(request.old), before.version)}",
        executed=1 if outcome in _OUTCOMES.values() else 0,
        seconds=time.perf_counter() - begin,
        observed=verdict.observed,
    )


def _check(
    outcome: CheckOutcome, sentence: str, *, executed: int = 0, seconds: float = 0.0, observed: float | None = None
) -> Check:
    figures: dict[str, float | str] = {} if observed is None else {"slowdown_percent": observed}
    return Check(NAME, outcome, sentence, executed=executed, seconds=seconds, figures=figures)

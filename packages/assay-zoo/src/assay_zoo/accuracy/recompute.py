"""`accuracy.recomputed`: the task's metric, computed by Assay from what the model answers, whatever a notebook says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.case import Case, Inputs
from assay.core.data import Data
from assay.core.job import ReferenceJob
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import BadGolden, BadModel, UsageError
from assay.models.goldens import Golden, read_golden
from assay.models.tensors import read_tensors
from assay.plugins import find_flow
from assay.ports import Tensors
from assay.task_metrics.registry import TASK_METRICS, check_task, is_against_labels
from assay.task_metrics.scoring import score
from assay_zoo.accuracy.interval import metric_interval
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.functionality.golden_sets import case_of, limits_of
from assay_zoo.metadata import Claim
from assay_zoo.policy import Scenario
from assay_zoo.submission import SubmissionContext, SubmissionServices

NAME = "accuracy.recomputed"
INPUTS, LABELS = "inputs.safetensors", "labels.safetensors"
WIDEST = 0.25
"""Share of the metric's range that the interval of a measured value may take: a wider one proves no claim."""
_WRONG_LABELS = (UsageError, KeyError, ValueError, IndexError)
"""What a task raises for labels of other names or shapes than it reads."""


def recompute(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """One check, on the scenario's data set."""
    scenario, metadata = place.scenario, place.metadata
    if scenario is None or metadata is None:
        return [_skipped("the zoo does not have its scenario")]
    if not scenario.task:
        return [_skipped(f"scenario {scenario.name!r} names no task by which Assay could compute it again")]
    if not scenario.dataset:
        return [_skipped(f"scenario {scenario.name!r} has no data set with labels: the metric is the notebook's word")]
    try:
        model = place.folder / metadata.model
        case = case_of(model, metadata.name, tools.services, place.policy.run)
        return [_on_data_set(case, place, scenario, metadata.accuracy, tools)]
    except (BadModel, BadGolden, UsageError) as error:
        text = f"it cannot be computed again: {error}".replace(f"{place.folder}/", "")
        return [_made(CheckOutcome.FAILED, text)]


def _on_data_set(
    case: Case, place: SubmissionContext, scenario: Scenario, claim: Claim, tools: SubmissionServices
) -> Check:
    folder = place.root / scenario.dataset
    missing = [name for name in (INPUTS, LABELS) if not (folder / name).is_file()]
    if missing:
        text = f"scenario {scenario.name!r} names the data set {scenario.dataset}, which lacks {' and '.join(missing)}"
        return _made(CheckOutcome.UNDECIDED, f"{text}: the zoo's maintainers must restore it")
    asked = msgspec.structs.replace(case, inputs=Inputs(data=Data(str(folder / INPUTS))))
    recorded = _answers(asked, place, tools)
    if isinstance(recorded, Result):
        return _not_run(recorded)
    answered: Sequence[Tensors] = recorded.outputs
    try:
        labels = _labels(folder / LABELS, scenario)
        scores = score(scenario.task, answered, answered, labels, scenario.task_options)
        if scenario.metric not in scores:
            only = ", ".join(sorted(scores))[:200]
            raise UsageError(f"task {scenario.task!r} has no metric {scenario.metric!r}, only {only}")
        value = scores[scenario.metric]
        if len(rows := _rows(recorded, case)) > len(answered) and _same_score(scenario, rows, labels, value):
            answered = rows
        ends = metric_interval(scenario.task, scenario.metric, answered, labels, scenario.task_options, value)
    except (BadGolden, *_WRONG_LABELS) as error:
        _answers_suit(scenario, answered)
        text = f"scenario {scenario.name!r} cannot be followed: {error}".replace(f"{place.root}/", "")
        return _made(
            CheckOutcome.UNDECIDED, f"{text}; the zoo's maintainers must fix the scenario or {scenario.dataset}"
        )
    return _judged(value, ends, len(answered), scenario, claim)


def _labels(path: Path, scenario: Scenario) -> Tensors:
    """Raises UsageError where one that the task reads has another name."""
    labels = read_tensors(path)
    check_task(scenario.task, scenario.task_options)
    task = TASK_METRICS[scenario.task]
    read = [str(scenario.task_options.get(label.option, label.name)) for label in task.labels if not label.optional]
    if is_against_labels(scenario.metric) and not labels.keys() >= set(read):
        given = ", ".join(map(repr, labels)) or "nothing"
        raise UsageError(f"{path} has {given}, and task {task.name!r} reads {' and '.join(map(repr, read))}")
    return labels


def _answers_suit(scenario: Scenario, answered: Sequence[Tensors]) -> None:
    """Raises UsageError where the task cannot be computed from what the model answers, whatever the labels are."""
    try:
        check_task(scenario.task, scenario.task_options)
    except UsageError:
        return  # the scenario's own mistake
    try:
        score(scenario.task, answered, answered, {}, scenario.task_options)
    except (ValueError, IndexError) as error:
        raise UsageError(f"its outputs do not suit task {scenario.task!r} ({error})") from None


def _judged(value: float, ends: tuple[float, float], samples: int, scenario: Scenario, claim: Claim) -> Check:
    """Against the minimum as it stands; against the claim with room for another choice of samples, or the claim's own tolerance."""
    higher = scenario.direction == "higher"
    room = max(claim.tolerance, ends[1] - value if higher else value - ends[0])
    figures: dict[str, float | str] = {scenario.metric: value, "samples": float(samples), "room": room}
    text = f"{scenario.metric} is {value:.6g} on {samples} samples of {scenario.dataset}"
    worse = (claim.value - value) if higher else (value - claim.value)
    least = scenario.minimum
    if math.isnan(value):
        return _made(CheckOutcome.FAILED, f"{text}: no number", figures, samples)
    if least is not None and (value < least if higher else value > least):
        side = "at least" if higher else "at most"
        return _made(
            CheckOutcome.FAILED, f"{text}; scenario {scenario.name!r} asks for {side} {least:g}", figures, samples
        )
    width = ends[1] - ends[0]
    if math.isinf(width) or width > WIDEST * (scenario.range[1] - scenario.range[0]):
        text = f"{text}: too few to tell a claim of {claim.value:.6g} from a wrong one; the zoo's maintainers must add some"
        return _made(CheckOutcome.UNDECIDED, text, figures, samples)
    if worse > room:
        return _made(
            CheckOutcome.FAILED,
            f"{text}, claimed is {claim.value:.6g}: worse by more than {room:.3g}, which tolerance and another choice of "
            "samples explain",
            figures,
            samples,
        )
    return _made(CheckOutcome.PASSED, f"{text}, claimed is {claim.value:.6g}", figures, samples)


def _answers(case: Case, place: SubmissionContext, tools: SubmissionServices) -> Golden | Result:
    """What the zoo's first flow makes of the case's inputs, sample by sample; or the result that says why it does not."""
    flow = find_flow(place.policy.flows[0])
    recorded = tools.scratch / "recorded"
    job = ReferenceJob(case, flow, limits=limits_of(place.policy.run), reference_dir=str(recorded))
    result = tools.services.jobs.complete(tools.services.jobs.run(job))
    return read_golden(recorded) if result.outcome is Outcome.OK else result


def _rows(recorded: Golden, case: Case) -> list[Tensors]:
    """Each row as a sample of its own, where the model leaves its batch free: a data set may be one array of all rows."""
    specs = (*case.model.inputs, *case.model.outputs)
    if not all(spec.shape and isinstance(spec.shape[0], str) and spec.shape[0] != "..." for spec in specs):
        return list(recorded.outputs)
    rows: list[Tensors] = []
    for given, answer in zip(recorded.inputs, recorded.outputs, strict=True):
        sizes = {array.shape[0] if array.ndim else 0 for array in (*given.values(), *answer.values())}
        if len(sizes) != 1:
            return list(recorded.outputs)
        rows += [{name: array[at : at + 1] for name, array in answer.items()} for at in range(sizes.pop())]
    return rows


def _same_score(scenario: Scenario, rows: Sequence[Tensors], labels: Tensors, value: float) -> bool:
    """Whether the metric means the same of rows: a task may count by samples."""
    try:
        return math.isclose(score(scenario.task, rows, rows, labels, scenario.task_options)[scenario.metric], value)
    except _WRONG_LABELS:
        return False


def _not_run(result: Result) -> Check:
    ours = result.outcome in (Outcome.INFRASTRUCTURE, Outcome.UNAVAILABLE)
    outcome = CheckOutcome.INFRASTRUCTURE if ours else CheckOutcome.FAILED
    return _made(outcome, f"{result.flow} did not answer: {result.outcome.value}, {result.detail}")


def _skipped(why: str) -> Check:
    return _made(CheckOutcome.SKIPPED, why)


def _made(
    outcome: CheckOutcome, sentence: str, figures: dict[str, float | str] | None = None, executed: int = 0
) -> Check:
    return Check(NAME, outcome, sentence, executed=executed, figures=figures or {})

"""`accuracy.recomputed`: the task's metric, computed by Assay from what the model answers, whatever a notebook says."""

from __future__ import annotations

import math

import msgspec

from assay.core.case import Case, Inputs
from assay.core.data import Data
from assay.core.job import ReferenceJob
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import BadGolden, BadModel, UsageError
from assay.models.goldens import read_golden
from assay.models.tensors import read_tensors
from assay.plugins import find_flow
from assay.ports import Tensor, Tensors
from assay.task_metrics.registry import score
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.golden_sets import case_of, data_set_folders, limits_of, with_data_sets
from assay_zoo.interval import metric_interval
from assay_zoo.metadata import Claim
from assay_zoo.policy import Scenario
from assay_zoo.submission import SubmissionContext, SubmissionServices

NAME = "accuracy.recomputed"
INPUTS, LABELS = "inputs.safetensors", "labels.safetensors"
WIDEST = 0.25
"""Share of the metric's range that the interval of a measured value may take: a wider one proves no claim."""
_AGREEMENT = {
    "classification": "top1_agreement",
    "detection": "matched",
    "segmentation": "mean_iou_agreement",
    "transcription": "word_agreement",
    "regression": "r2_agreement",
}


def recompute(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """One check: on the scenario's data set, or on the test data sets where it has none."""
    scenario, metadata = place.scenario, place.metadata
    if scenario is None or metadata is None:
        return [_skipped("the zoo does not have its scenario")]
    if not scenario.task:
        return [_skipped(f"scenario {scenario.name!r} names no task by which Assay could compute it again")]
    try:
        model = place.folder / metadata.model
        case = case_of(model, metadata.name, tools.services, place.policy.run)
        if scenario.dataset:
            return [_on_data_set(case, place, scenario, metadata.accuracy, tools)]
        return [_on_test_sets(case, place, scenario, metadata.accuracy, tools)]
    except (BadModel, BadGolden, UsageError) as error:
        data = "" if scenario.dataset else next((one.name for one in data_set_folders(place.folder)), "")
        text = f"it cannot be computed again: {error}".replace(f"{place.folder}/", "")
        return [msgspec.structs.replace(_made(CheckOutcome.FAILED, text), path=data)]


def _on_data_set(
    case: Case, place: SubmissionContext, scenario: Scenario, claim: Claim, tools: SubmissionServices
) -> Check:
    folder = place.root / scenario.dataset
    missing = [name for name in (INPUTS, LABELS) if not (folder / name).is_file()]
    if missing:
        text = f"scenario {scenario.name!r} names the data set {scenario.dataset}, which lacks {' and '.join(missing)}"
        return _made(CheckOutcome.UNDECIDED, f"{text}: the zoo's maintainers must restore it")
    labels = read_tensors(folder / LABELS)
    answered, result = _answers(
        msgspec.structs.replace(case, inputs=Inputs(data=Data(str(folder / INPUTS)))), place, tools
    )
    if result is not None:
        return _not_run(result)
    found = score(scenario.task, answered, answered, labels, scenario.task_options)
    if scenario.metric not in found:
        text = f"task {scenario.task!r} has no metric {scenario.metric!r}, only {', '.join(sorted(found))[:200]}"
        return _made(CheckOutcome.UNDECIDED, f"scenario {scenario.name!r} cannot be followed: {text}")
    value = found[scenario.metric]
    ends = metric_interval(scenario.task, scenario.metric, answered, labels, scenario.task_options, value)
    return _judged(value, ends, len(answered), scenario, claim)


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


def _on_test_sets(
    case: Case, place: SubmissionContext, scenario: Scenario, claim: Claim, tools: SubmissionServices
) -> Check:
    """No truth is known: how far the answers agree with those that were handed in."""
    sets = data_set_folders(place.folder)
    name = _AGREEMENT.get(scenario.task, "")
    if not sets or not name:
        return _skipped("the scenario has no data set with labels, and the submission nothing to compare with")
    golden = tools.scratch / "handed-in"
    case = with_data_sets(case, sets, golden, place.policy.run)
    answered, result = _answers(case, place, tools)
    if result is not None:
        return _not_run(result)
    expected = read_golden(golden).outputs
    if any(_form(one) != _form(other) for one, other in zip(answered, expected, strict=True)):
        return _skipped(
            "the outputs that were handed in are not of the model's names, types and shapes: see functionality"
        )
    value = score(scenario.task, answered, expected, {}, scenario.task_options)[name]
    text = f"{name} with the outputs of {len(sets)} test data sets is {value:.6g} (no data set with labels is known)"
    good = value >= 1.0 - claim.tolerance
    check = _made(CheckOutcome.PASSED if good else CheckOutcome.FAILED, text, {name: value}, len(sets))
    return msgspec.structs.replace(check, path=sets[0].name)


def _form(sample: Tensors) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {name: (str(tensor.dtype), tensor.shape) for name, tensor in sample.items()}


def _answers(case: Case, place: SubmissionContext, tools: SubmissionServices) -> tuple[list[Tensors], Result | None]:
    """What the zoo's first flow makes of the case's inputs, sample by sample; or the result that says why it does not."""
    flow = find_flow(place.policy.flows[0])
    recorded = tools.scratch / "recorded"
    job = ReferenceJob(case, flow, limits=limits_of(place.policy.run), reference_dir=str(recorded))
    result = tools.services.jobs.complete(tools.services.jobs.run(job))
    if result.outcome is not Outcome.OK:
        return [], result
    outputs: list[dict[str, Tensor]] = read_golden(recorded).outputs
    return list(outputs), None


def _not_run(result: Result) -> Check:
    ours = result.outcome in (Outcome.INFRASTRUCTURE, Outcome.UNAVAILABLE)
    outcome = CheckOutcome.INFRASTRUCTURE if ours else CheckOutcome.FAILED
    return _made(outcome, f"{result.flow} did not answer: {result.outcome.value}, {result.detail}")


def _skipped(why: str) -> Check:
    return _made(CheckOutcome.SKIPPED, why)


def _made(
    outcome: CheckOutcome, sentence: str, figures: dict[str, float | str] | None = None, executed: int = 0
) -> Check:
    return Check(name=NAME, outcome=outcome, sentence=sentence, executed=executed, figures=figures or {})

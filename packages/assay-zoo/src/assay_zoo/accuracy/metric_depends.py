"""`accuracy.depends`: a metric that stays where every answer of the model is zero is not computed from what the model answers.

Asked where no data set with labels lets Assay compute the metric itself: the notebook's word is then all that there is.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.ports import Sandbox
from assay_zoo.accuracy.execution import Executed, execute
from assay_zoo.accuracy.metric import file_wanted, read_metric
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.limited_process import Ending, run_limited
from assay_zoo.metadata import Claim
from assay_zoo.submission import SubmissionContext

NAME = "accuracy.depends"
_SECONDS = 120.0
_WRITTEN_BYTES = 4 << 30
"""Protobuf itself writes 2 GiB at most."""
_NOISE = 1e-6
"""Of the metric, where the claim's tolerance is less."""
_BOOL, _STRING, _COMPLEX = 9, 8, (14, 15)


def rests_on_notebook(place: SubmissionContext) -> bool:
    """Whether Assay has no data set on which it computes the metric itself."""
    return place.scenario is None or not (place.scenario.task and place.scenario.dataset)


def depends_check(place: SubmissionContext, value: float, sandbox: Sandbox, scratch: Path) -> Check:
    """`value` is what the validation notebook gave."""
    assert place.metadata is not None
    claim, path = place.metadata.accuracy, place.metadata.validation
    other = scratch / "silent"
    shutil.copytree(place.folder, other)
    model = other / place.metadata.model
    (answer,) = run_limited(
        "assay_zoo.accuracy.metric_depends:silence", [str(model)], seconds=_SECONDS, memory_bytes=place.policy.run.memory_bytes,
        written_bytes=_WRITTEN_BYTES,
    )  # fmt: skip
    if answer.ending is not Ending.OK:
        machine = answer.ending is Ending.HARNESS
        sentence = f"the model could not be changed so that every answer is zero ({answer.sentence}): a person must look at {path}"
        outcome = CheckOutcome.INFRASTRUCTURE if machine else CheckOutcome.UNDECIDED
        return Check(NAME, outcome, answer.sentence if machine else sentence, path)
    silent, left = answer.value
    if not silent:
        sentence = "not executed: the model has no output of numbers that could be set to zero"
        return Check(NAME, CheckOutcome.SKIPPED, sentence)
    done = execute(
        NAME, path, file_wanted(claim.read), replace(place, folder=other), sandbox, scratch / "silent-output"
    )
    return _judged(path, claim, value, done, left)


def _judged(path: str, claim: Claim, value: float, done: Executed, left: int) -> Check:
    """`done` is the notebook on the silent model, `left` the outputs of it that are not silent."""
    if done.check.outcome is CheckOutcome.INFRASTRUCTURE:
        return done.check
    if done.report is None:
        return _open(path, f"the notebook does not run to its end: {done.check.sentence}", done.check.line)
    metric = read_metric(claim.read, done.report, done.output)
    if metric.value is None:
        return _open(path, f"there is no {claim.metric}: {metric.sentence}", metric.line)
    figures: dict[str, float | str] = {"measured": value, "silent": metric.value, "tolerance": claim.tolerance}
    if not _same(value, metric.value, claim.tolerance):
        sentence = f"{claim.metric} is {value:.6g}, and {metric.value:.6g} where every answer of the model is zero"
        return Check(NAME, CheckOutcome.PASSED, sentence, path, executed=1, figures=figures)
    if left:
        sentence = f"{claim.metric} stays, but {left} of its outputs could not be set to zero and may be what it is computed from"
        return _open(path, sentence, metric.line)
    sentence = (
        f"{path} gives {claim.metric} = {metric.value:.6g} where every answer of the model is zero, and {value:.6g} else: compute it "
        "from what the model answers, and compare that with labels that come from elsewhere"
    )
    return Check(NAME, CheckOutcome.FAILED, sentence, path, metric.line, executed=1, figures=figures)


def _same(value: float, silent: float, tolerance: float) -> bool:
    """Noise that a notebook adds to a metric makes no other one of it."""
    if math.isnan(value) or math.isnan(silent):
        return math.isnan(value) and math.isnan(silent)
    return value == silent or abs(value - silent) <= max(tolerance, _NOISE * abs(value))


def _open(path: str, sentence: str, line: int) -> Check:
    """Whether the metric depends on the model is open: nothing was shown, either way."""
    text = f"on a model whose every answer is zero, {sentence}; a person must see that it is computed from the answers"
    return Check(NAME, CheckOutcome.UNDECIDED, text, path, line)


def silence(path: str) -> Any:
    """The target of `run_limited`: let every output of numbers be zero, in place; how many are, and how many outputs are not.
    Raises ValueError where the model imports no operators of ONNX, which could do it."""
    import onnx
    from onnx import helper

    model = onnx.load(path, load_external_data=False)
    if not any(entry.domain in ("", "ai.onnx") for entry in model.opset_import):
        raise ValueError("the model imports no operators of ONNX")
    made = 0
    for port in model.graph.output:
        element = port.type.tensor_type.elem_type
        if not element or element in (_STRING, *_COMPLEX):
            continue
        for at, node in enumerate(model.graph.node):
            if port.name not in node.output:
                continue
            whole = f"{port.name}__answer"
            node.output[list(node.output).index(port.name)] = whole
            operator = "Xor" if element == _BOOL else "Sub"
            model.graph.node.insert(at + 1, helper.make_node(operator, [whole, whole], [port.name]))
            made += 1
            break
    if made:
        Path(path).write_bytes(model.SerializeToString())
    return [made, len(model.graph.output) - made]

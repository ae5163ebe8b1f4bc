"""`accuracy.depends`: a metric that stays where every answer of the model is zero is not computed from what the model answers.

Asked where no data set with labels lets Assay compute the metric itself: the notebook's word is then all that there is.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.ports import Sandbox
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.execution import execute
from assay_zoo.limited_process import Ending, run_limited
from assay_zoo.metric import file_wanted, read_metric
from assay_zoo.submission import SubmissionContext

NAME = "accuracy.depends"
_SECONDS = 120.0
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
        "assay_zoo.metric_depends:silence", [str(model)], seconds=_SECONDS, memory_bytes=place.policy.run.memory_bytes
    )
    if answer.ending is not Ending.OK or not answer.value:
        told = "not executed: the model has no output of numbers that could be set to zero"
        return Check(name=NAME, outcome=CheckOutcome.SKIPPED, sentence=told)
    done = execute(
        NAME, path, file_wanted(claim.read), replace(place, folder=other), sandbox, scratch / "silent-output"
    )
    if done.check.outcome is CheckOutcome.INFRASTRUCTURE:
        return done.check
    found = read_metric(claim.read, done.report, done.output) if done.report is not None else None
    if found is None or found.value is None or found.value != value:
        told = f"{claim.metric} is another, or none, where every answer of the model is zero"
        return Check(name=NAME, outcome=CheckOutcome.PASSED, sentence=told, path=path, executed=1)
    told = (
        f"{path} gives {claim.metric} = {value:.6g} also where every answer of the model is zero: compute it from what the model "
        "answers, and compare that with labels that come from elsewhere"
    )
    return Check(
        name=NAME, outcome=CheckOutcome.FAILED, sentence=told, path=path, line=found.line, executed=1,
        figures={"measured": value},
    )  # fmt: skip


def silence(path: str) -> Any:
    """The target of `run_limited`: let every output of numbers be zero, in place; how many there are."""
    import onnx
    from onnx import helper

    model = onnx.load(path, load_external_data=False)
    if not any(one.domain in ("", "ai.onnx") for one in model.opset_import):
        return 0
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
    return made

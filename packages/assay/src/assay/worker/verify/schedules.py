"""Does the model itself give one answer to a prompt, in whatever pieces and beside whatever others it is fed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.finding import Finding, FindingCode, facts
from assay.core.schedules import NAMES
from assay.models.goldens import Golden
from assay.ports import Tensor
from assay.task_metrics.language import apart, log_probabilities

_LOGITS = "logits"
_ROUNDING, _COARSE = 1e-12, 1e-3
"""What the order of sums may change of a reference in double, and of any other: a divergence in nats."""


def is_scheduled(golden: Golden) -> bool:
    """Whether its samples are prompts that were fed in several ways."""
    answers = golden.outputs[0].get(_LOGITS) if golden.outputs else None
    return "prefix" in golden.labels and "schedule" in golden.labels and answers is not None and answers.ndim == 3


def schedules_disagree(golden: Golden, actual: Sequence[Mapping[str, Tensor]]) -> tuple[Finding, ...]:
    """What differs in the reference's answers and in the engine's alike is wrong in the graph, whatever runs it."""
    if not is_scheduled(golden):
        return ()
    allowed = _ROUNDING if golden.outputs[0][_LOGITS].dtype == np.float64 else _COARSE
    expected, engine = (
        apart(log_probabilities(samples, _LOGITS), golden.labels) for samples in (golden.outputs, actual)
    )
    beyond = {
        name: numbers
        for name, numbers in expected.items()
        if not numbers[0] <= allowed and name in engine and not engine[name][0] < numbers[0] / 2
    }
    if not beyond:
        return ()
    name, *others = (schedule for schedule in NAMES if schedule in beyond)  # the simplest says most
    size, call, position = beyond[name]
    numbers = facts(schedule=name, divergence=size, sample=call, position=position, others=tuple(others))
    return (Finding("schedule", _LOGITS, FindingCode.SCHEDULES_DISAGREE, numbers),)

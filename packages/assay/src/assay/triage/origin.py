"""Which stage of a compiler brought it, where no pass can be left out: the first wrong one of the models that its passes leave."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from assay.core.region import AfterPass
from assay.triage.symptom import WITHIN


class Stage(enum.StrEnum):
    """`later`: all are right up to this pass, and those behind it cannot be evaluated. `until`: between the last model that could be
    evaluated and this pass; `first`: none before this pass could be. `after`: all models are right, what the engine builds of the last
    one is not."""

    READER = "reader"
    PASS = "pass"
    UNTIL = "until"
    FIRST = "first"
    AFTER = "after"
    LATER = "later"
    UNKNOWN = "unknown"


class Origin(msgspec.Struct, frozen=True):
    """`name` is that of the pass; of `judged` models."""

    stage: Stage = Stage.UNKNOWN
    name: str = ""
    judged: int = 0


def origin_of(stages: Sequence[AfterPass], size: float) -> Origin:
    """From the stages in order; `size` is the error that is looked for."""
    judged = sum(after_pass.rel_l2 is not None for after_pass in stages)
    wrong = [after_pass.rel_l2 is not None and after_pass.rel_l2 >= size / WITHIN for after_pass in stages]
    if not judged:
        return Origin()
    if wrong[0]:
        return Origin(Stage.READER, judged=judged)
    if True in wrong:
        at = wrong.index(True)
        before = [after_pass.rel_l2 is not None for after_pass in stages[:at]]
        stage = Stage.PASS if before[-1] else Stage.UNTIL if any(before) else Stage.FIRST
        return Origin(stage, stages[at].name, judged)
    if stages[-1].rel_l2 is not None:
        return Origin(Stage.AFTER, judged=judged)
    return Origin(
        Stage.LATER, next(after_pass.name for after_pass in reversed(stages) if after_pass.rel_l2 is not None), judged
    )

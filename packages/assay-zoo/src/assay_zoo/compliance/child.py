"""The other side of `subprocess_check`: the steps of one examination, one after the other, in a limited process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.core.model_finding import ModelFinding
from assay_zoo.compliance.request import Request, Stepped

if TYPE_CHECKING:
    from assay.models.examination.steps import Examination

TARGET = "assay_zoo.compliance.child:examine_step"


def examine_step(item: dict[str, Any]) -> Any:
    """The target of `run_until_lost`: what one step finds of a model of which the steps before it were taken here."""
    from assay.models.examination.steps import take
    from assay_zoo.compliance.steps import steps_of

    request = msgspec.convert(item["request"], Request)
    look, puzzle = _examination(request.model), ""
    model_findings: list[ModelFinding] = []
    try:
        model_findings.extend(take(look, steps_of(request)[item["step"]]))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001  a rule of ours that does not know this model: a person must look
        puzzle = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return msgspec.to_builtins(Stepped(findings=tuple(model_findings), puzzle=puzzle, counts=look.counts()))


@cache
def _examination(model: str) -> Examination:
    from assay.models.examination.steps import Examination

    return Examination(Path(model))

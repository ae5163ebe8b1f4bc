"""Known defects whose case the backend does not run here: nothing could be tried of them, and what fails as is recorded may be one."""

from __future__ import annotations

from collections.abc import Sequence

from assay.fuzz.corpus import Bucket
from assay.fuzz.suspect_pattern import ANSWERS, family, pattern
from assay.triage.findings import PLACE, findings

UNJUDGED = "unjudged"
"""The kind of such a defect."""


def recorded(finding: str, operators: Sequence[str]) -> str:
    """How these operators fail, as the finding says ("crash SIGABRT"). "": it does not, or says more than one thing."""
    symptoms = {
        known.symptom
        for known in findings()
        if PLACE + known.file == finding and pattern(known.operators) == pattern(operators)
    }
    return symptoms.pop() if len(symptoms) == 1 else ""


def may_be_as_recorded(bucket: Bucket, other: Bucket) -> bool:
    """Whether the one that was judged fails as the other is recorded to: with an answer, in the same use, or with the same signal. Where
    nothing is recorded, with any answer or any signal."""
    known, new = (bucket, other) if bucket.kind == UNJUDGED else (other, bucket)
    kind = family(new.kind)
    if not known.detail:
        return kind in ANSWERS or kind == "crash"
    due = family(known.detail)
    same_signal = not (known.signal and new.signal) or known.signal == new.signal
    return {kind, due} <= ANSWERS or (kind == due and same_signal)

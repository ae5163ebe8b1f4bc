"""Whether a result may be believed as it stands: one oracle blames nobody alone, and no engine is its own witness."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from assay.core.finding import Finding, FindingCode
from assay.core.outcome import Outcome
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.core.result import PerNodeResult, Result, VerifyResult
from assay.core.result_parts import ComparedResult
from assay.judge.job_outcome import findings_of

DOUBTFUL = frozenset(
    {
        "values",
        "shape",
        "nan",
        "infinity",
        "lowest_for_infinity",
        "empty",
        "degenerate",
        "task",
        "drift",
        "missing_reference",
    }
)
"""Kinds of findings where the reference may be what is wrong. All others (an output that is missing, another type than the model
declares) are seen without it."""
CERTAIN = frozenset({FindingCode.DECLARED_SHAPE})
"""Of those kinds, what the model says by itself: the file and the reference are two."""
EVALUATOR = "reference"
"""The library that answers where no golden does: at other sizes than those of the samples."""


class Doubt(enum.Enum):
    """What has to be known before the result counts. `reference`: it differs from answers that nobody has vouched for.
    `itself`: it agrees with answers of its own library."""

    NONE = "none"
    REFERENCE = "reference"
    ITSELF = "itself"


class Side(enum.Enum):
    """Whom the independent witnesses agree with: `nobody` where they answered otherwise, `unasked` where none answered. `reading`: the
    engine is right by the other reading of what the standard leaves open, and nobody has to be asked."""

    REFERENCE = "reference"
    ENGINE = "engine"
    NOBODY = "nobody"
    UNASKED = "unasked"
    READING = "reading"


def doubt_of(result: Result) -> Doubt:
    """Whether a witness is needed. A golden of the user and published answers are witnesses by themselves, and an engine that
    contradicts itself needs none."""
    if not isinstance(result, ComparedResult) or result.outcome is Outcome.NONDETERMINISTIC:
        return Doubt.NONE
    reference = result.reference
    findings = findings_of(result)
    if findings:
        if any(finding.kind not in DOUBTFUL or finding.code in CERTAIN for finding in findings):
            return Doubt.NONE
        beyond = _beyond_the_golden(result, findings)
        return Doubt.REFERENCE if reference.kind is ReferenceKind.ORACLE or beyond else Doubt.NONE
    if reference.kind is not ReferenceKind.ORACLE:
        return Doubt.NONE
    if result.outcome is Outcome.MISMATCH:
        return Doubt.REFERENCE
    own = not reference.independent and bool(result.comparisons)
    return Doubt.ITSELF if own and result.outcome is Outcome.OK else Doubt.NONE


def agrees(testimony: Result) -> bool | None:
    """Whether what a witness answered is right by the reference. None where the job did not come so far, its answers prove nothing, or
    something else than its answers is wrong."""
    if not isinstance(testimony, ComparedResult):
        return None
    if testimony.outcome is Outcome.MISMATCH:
        return False if any(finding.kind in DOUBTFUL for finding in findings_of(testimony)) else None
    right = testimony.outcome in (Outcome.OK, Outcome.OTHER_PRECISION)
    nothing = isinstance(testimony, VerifyResult) and not testimony.comparisons
    return True if right and not nothing else None


def agrees_at_node(testimony: PerNodeResult, result: PerNodeResult) -> bool | None:
    """The same of the first node that an engine is blamed for; None where the witness was not judged there."""
    blamed = next((error for error in result.node_errors if (error.budget_used or 0.0) > 1.0), None)
    if blamed is None:
        return None
    own = {error.output: error.budget_used for error in testimony.node_errors}
    used = own.get(blamed.output)
    return None if used is None else used <= 1.0


def library_of_reference(result: ComparedResult) -> str:
    """Whose code gave the answers that are in doubt."""
    return result.reference.library if result.reference.kind is ReferenceKind.ORACLE else EVALUATOR


def vouches(witness: Witness, result: ComparedResult) -> bool:
    """For the reference: it is of another library than the reference where that is in doubt, than the engine where that would
    otherwise be its own witness."""
    other = result.reference.engine if doubt_of(result) is Doubt.ITSELF else library_of_reference(result)
    return witness.agrees_with_reference is True and witness.library != other


def side_of(result: ComparedResult) -> tuple[Side, Witness | None]:
    """Whom the witnesses support, and the witness that says so."""
    for witness in result.witnesses:
        if witness.reading and witness.agrees_with_engine is True:
            return Side.READING, witness
    for witness in result.witnesses:
        if vouches(witness, result):
            return Side.REFERENCE, witness
    for witness in result.witnesses:
        if witness.agrees_with_engine is True and witness.library != result.reference.engine:
            return Side.ENGINE, witness
    differing = [witness for witness in result.witnesses if witness.agrees_with_reference is False]
    other = min(differing, key=lambda witness: _nearness(witness, result), default=None)
    return (Side.NOBODY, other) if other else (Side.UNASKED, next(iter(result.witnesses), None))


def _nearness(witness: Witness, result: ComparedResult) -> int:
    """Another library says more than another flow of the engine's library, and that more than the engine itself."""
    return 2 if witness.flow == result.flow else int(witness.library == result.reference.engine)


def described(reference: Reference) -> str:
    """Whose answers they are, in a few words; "" where there are none."""
    match reference.kind:
        case ReferenceKind.NONE:
            return ""
        case ReferenceKind.GIVEN:
            return "the given answers"
        case ReferenceKind.GOLDEN:
            same = "" if reference.independent else ", the same library as the engine"
            return f"the golden ({reference.producer}{same})" if reference.producer else "the golden"
        case ReferenceKind.DEFINITION if reference.producer in ("", "onnx", "specification"):
            return "the published answers"
        case _:
            return reference.producer


def _beyond_the_golden(result: ComparedResult, findings: Sequence[Finding]) -> bool:
    """Whether all that is wrong was found at sizes that no golden has, where the evaluator answered."""
    sized = {finding for comparison in result.comparisons if comparison.at for finding in comparison.findings}
    return result.reference.kind is ReferenceKind.GOLDEN and all(finding in sized for finding in findings)

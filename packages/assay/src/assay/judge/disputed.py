"""What is said of a result whose reference nobody vouches for: inconclusive, why, and what would decide it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.reference import Witness
from assay.core.result import ChangeResult, Result
from assay.core.result_parts import ComparedResult
from assay.judge.decided import values_alone
from assay.judge.witnesses import Doubt, Side, described, doubt_of, side_of
from assay.judge.words.advice import ConfiguredJob, to_compare, to_state
from assay.judge.words.silent_standard import SILENT_STANDARD


def vouched(result: Result) -> str:
    """`; reference-f64 and onnxruntime-disable agree`, "" where nobody had to be asked."""
    if not isinstance(result, ComparedResult) or doubt_of(result) is Doubt.NONE:
        return ""
    match side_of(result):
        case Side.REFERENCE, Witness() as witness:
            return f"; {described(result.reference)} and {witness.flow} agree"
        case Side.ENGINE, Witness() as witness:
            return f"; {result.flow} and {witness.flow} agree"
    return ""


def unsettled(result: Result) -> str:
    """Why the result proves nothing; "" where it counts."""
    doubt = doubt_of(result)
    if not isinstance(result, ComparedResult) or doubt is Doubt.NONE:
        return ""
    side, witness = side_of(result)
    if side is Side.REFERENCE or (side is Side.ENGINE and doubt is Doubt.ITSELF):
        return ""
    sentence = _against_itself(result, side, witness) if doubt is Doubt.ITSELF else _disputed(result, side, witness)
    return f"{sentence}{_parted(witness)}"


def to_decide(result: Result, configured: ConfiguredJob | None) -> str:
    """For a result that is `unsettled`: other answers to compare with, of an engine that is not installed, or of the framework that the
    model comes from."""
    assert isinstance(result, ComparedResult)
    install = next((witness.install for witness in result.witnesses if witness.install), "")
    ways = to_compare(result, configured)
    if result.reference.own_inputs and doubt_of(result) is Doubt.REFERENCE and values_alone(result):
        ways += f"; or {to_state(result, configured)}"
    return f"install another engine (`{install}`) and check again; or, {ways}" if install else ways


def _disputed(result: ComparedResult, side: Side, witness: Witness | None) -> str:
    reference = described(result.reference)
    if isinstance(result, ChangeResult) and side is Side.ENGINE and witness is not None:
        return f"the reference is disputed: {witness.flow} answers both models alike, and {reference} does not"
    if side is Side.READING and witness is not None:
        missing = "; ".join(SILENT_STANDARD[code] for code in witness.reading)
        return f"the standard is silent ({missing}): {result.flow} is right by the other reading, and differs from {reference}"
    if side is Side.UNASKED or witness is None:
        return f"differs from {reference}, and nobody else vouches for it{_unasked(result.witnesses)}"
    if side is Side.ENGINE:
        return f"the reference is disputed: {result.flow} and {witness.flow} agree, only {reference} differs"
    if witness.flow == result.flow:
        return f"the reference is disputed: {result.flow} and {reference} differ, and nobody else answers{_unasked(result.witnesses)}"
    if witness.agrees_with_engine:
        return f"the reference is disputed: {result.flow} and {witness.flow} agree, which are one library, and {reference} differs"
    if witness.agrees_with_engine is None:
        return f"the reference is disputed: {witness.flow} answers otherwise than {reference}, too"
    return f"the reference is disputed: {result.flow}, {witness.flow} and {reference} all differ from one another"


def _against_itself(result: ComparedResult, side: Side, witness: Witness | None) -> str:
    reference = described(result.reference)
    text = f"agrees with {reference}, which is the same library ({result.reference.library}) and no witness of its own"
    if side is Side.UNASKED or witness is None:
        return f"{text}; nobody else could be asked{_unasked(result.witnesses)}"
    return f"{text}; {witness.flow} answers otherwise"


def _unasked(witnesses: Sequence[Witness]) -> str:
    text = "; ".join(f"{witness.flow}: {witness.detail}" for witness in witnesses if witness.detail)
    return f" ({text})" if text else ""


def _parted(witness: Witness | None) -> str:
    return f"; they part at node '{witness.node}'" if witness is not None and witness.node else ""

"""The comparator of a user's choice of tolerance, and what a reader should know of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.core.case import Contract
from assay.core.note import Note, NoteCode, noted
from assay.errors import Lowering
from assay.numerics.tolerance.comparator import Samples, ToleranceComparator
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.tolerance_tables import DERIVED, with_table


def comparator_by(
    contract: Contract, profile: Callable[[], DerivedTolerance | None], *, derived: bool
) -> ToleranceComparator:
    """By the user's choice. `profile` is asked only where it is needed; `derived`: one was to be made. Raises UsageError for a
    choice that is none."""
    if contract.tolerance != DERIVED:
        return ToleranceComparator(with_table(contract))
    if "*" in contract.tolerances:
        return ToleranceComparator(contract)
    derived_tolerance = profile()
    reason = derived_tolerance.header.reason if derived_tolerance is not None else None
    if reason is not None:
        return ToleranceComparator(contract, None, (noted(NoteCode.NO_TOLERANCE, error=reason),), guessed=True)
    if derived_tolerance is not None:
        return ToleranceComparator(contract, derived_tolerance, _about(derived_tolerance, contract.precision))
    notes = (noted(NoteCode.DERIVATION_FAILED),) if derived else ()
    return ToleranceComparator(contract, None, notes, guessed=derived)


def comparator_of_quantized(
    model: Path, inputs: Samples, contract: Contract, seed: int, allowances: tuple[str, ...] = ()
) -> ToleranceComparator:
    """For a model that transforms have quantized: its grid is in its graph, so everything around it is held to float32.

    Derived here and now: no other flow has the same model.
    """
    if contract.tolerance != DERIVED or "*" in contract.tolerances:
        return ToleranceComparator(contract, by_default=True)
    if model.suffix != ".onnx":
        return ToleranceComparator(contract, None, (noted(NoteCode.QUANTIZED_NO_GRAPH),), by_default=True)
    from assay.numerics.tolerance.derive import derive

    try:
        profile = derive(model, inputs, "float32", seed=seed, allowances=allowances)
    except Lowering as error:
        note = noted(NoteCode.QUANTIZED_NO_TOLERANCE, error=error.reason)
        return ToleranceComparator(contract, None, (note,), by_default=True)
    return ToleranceComparator(contract, profile, _about(profile, "float32"), by_default=True)


def _about(profile: DerivedTolerance, precision: str) -> tuple[Note, ...]:
    """What a reader should know of the tolerance itself."""
    header = profile.header
    notes = []
    if header.learnt and header.why is not None:
        notes.append(noted(NoteCode.TOLERANCE_LEARNT, draws=header.draws, engine=header.learnt, error=header.why))
    if header.precision != precision and not header.reason:
        notes.append(noted(NoteCode.COMPUTES_IN_DOUBLE, precision=header.precision, asked=precision))
    if header.without_rule:
        notes.append(noted(NoteCode.WITHOUT_NOISE_RULE, operators=header.without_rule))
    for output in header.outputs:
        if output.kind == "none" and output.why is not None:
            notes.append(Note(output.why.code, {**output.why.facts, "output": output.name}))
    blind = tuple(tried.defect for tried in header.selftest if not tried.killed)
    if blind:
        kinds = tuple(defect.kind.value for defect in blind)
        places, sizes = tuple(defect.at for defect in blind), tuple(defect.size for defect in blind)
        notes.append(noted(NoteCode.DEFECTS_NOT_SEEN, kinds=kinds, places=places, sizes=sizes))
    return tuple(notes)

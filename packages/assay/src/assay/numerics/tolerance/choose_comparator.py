"""The comparator of a user's choice of tolerance, and what a reader should know of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.core.case import Contract
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
    found = profile()
    if found is not None and not found.header.reason:
        return ToleranceComparator(contract, found, _about(found, contract.precision))
    why = found.header.reason if found is not None else "the derivation did not end well" if derived else ""
    told = (
        f"no tolerance could be derived for this model ({why}): judged by a fixed multiple of the unit roundoff instead (512 for "
        "float32, 64 for float16, 16 for bfloat16 and int8), which knows nothing of the graph: what lies outside of it is not called wrong"
    )
    return ToleranceComparator(contract, None, (told,) if why else (), guessed=bool(why))


def comparator_of_quantized(
    model: Path, inputs: Samples, contract: Contract, seed: int, allowances: tuple[str, ...] = ()
) -> ToleranceComparator:
    """For a model that transforms have quantized: its grid is in its graph, so everything around it is held to float32.

    Derived here and now: no other flow has the same model.
    """
    if contract.tolerance != DERIVED or "*" in contract.tolerances:
        return ToleranceComparator(contract, by_default=True)
    if model.suffix != ".onnx":
        told = "tolerances are derived from ONNX graphs, and the quantized model cannot be made one: judged by a multiple of its step"
        return ToleranceComparator(contract, None, (told,), by_default=True)
    from assay.numerics.tolerance.derive import derive

    try:
        profile = derive(model, inputs, "float32", seed=seed, allowances=allowances)
    except Lowering as error:
        told = (
            f"no tolerance could be derived for the quantized model ({error}): judged by a multiple of its step instead"
        )
        return ToleranceComparator(contract, None, (told,), by_default=True)
    return ToleranceComparator(contract, profile, _about(profile, "float32"), by_default=True)


def _about(profile: DerivedTolerance, asked: str) -> tuple[str, ...]:
    """What a reader should know of the tolerance itself."""
    header = profile.header
    notes = []
    if header.learnt:
        notes.append(
            f"the tolerance is learnt from {header.draws} perturbed runs of {header.learnt}, because the model has no evaluation in double "
            f"({header.why})"
        )
    if header.precision != asked and not header.reason:
        notes.append(
            f"the model computes in double, and so must this flow: judged at {header.precision} (a flow that computes in "
            f"{asked} on purpose declares the allowance double-in-float32)"
        )
    if header.without_rule:
        notes.append(
            f"the derived tolerance has no noise rule for {', '.join(header.without_rule)}: 8 units of each result were allowed"
        )
    for one in header.outputs:
        if one.kind == "none":
            notes.append(f"no tolerance could be derived for output '{one.name}': {one.reason}")
    blind = [one.mutant for one in header.selftest if not one.killed]
    if blind:
        notes.append(f"the derived tolerance did not see this defect of the same model: {'; '.join(blind)}")
    return tuple(notes)

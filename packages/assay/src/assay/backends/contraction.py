"""Fused multiply-adds as a default of a compiler: LLVM contracts a product and a sum into one for TVM and IREE, unasked."""

from __future__ import annotations

from collections.abc import Iterable, Set

from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.engine_info import NumericDefault, Placement
from assay.core.flow import Option

# Of x86 alone, as LLVM names it: there the generic processor has none. Other architectures have it always, and nothing turns it off.
_FEATURE = "fma"


def contracted(
    setting: str, processor: Option, features: Set[str], placements: Iterable[Placement]
) -> tuple[NumericDefault, ...]:
    """Of an engine with kernels in floating point, built for the processor `host` without being told, that has these features.
    `setting` is the backend's own name for the processor."""
    if (
        processor != "host"
        or _FEATURE not in features
        or not any(placement.precision in UNIT_ROUNDOFF for placement in placements)
    ):
        return ()
    return (NumericDefault(setting, "host", "fused-multiply-add", "cpu", "generic"),)

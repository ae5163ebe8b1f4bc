"""Winograd's transforms as a default of a backend: which engines have a convolution that they may compute so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.core.engine_info import NumericDefault
from assay.core.flow import Option


def numeric_defaults(options: Mapping[str, Option], kernels: Iterable[str]) -> tuple[NumericDefault, ...]:
    """Of a backend with an option `winograd`, and the operators of its engine."""
    if options["winograd"] is not True or not any("conv" in kernel.lower() for kernel in kernels):
        return ()
    return (NumericDefault("winograd", "true", "winograd", "winograd", off=False),)

"""Whether the libraries of a transform are installed, asked of the package metadata: nothing is imported."""

from __future__ import annotations

import importlib.metadata

from assay.core.note import noted
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.ports import Availability


def requirements(*distributions: str, extra: str) -> Availability:
    """Available where all are; `version` is that of the first, which does the work."""
    versions = {}
    for name in distributions:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            reason = noted(AvailabilityCode.LIBRARY_NOT_INSTALLED, library=name)
            return Availability(available=False, reason=reason, install=f"pip install 'assay[{extra}]'")
    return Availability(available=True, version=f"{distributions[0]} {versions[distributions[0]]}")

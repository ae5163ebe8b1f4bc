"""Whether a library is installed, asked of the package metadata: nothing is imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from assay.core.note import noted
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.ports import Availability


def installed(distribution: str, module: str, extra: str) -> Availability:
    """Available where both the distribution and its module are found; else the command that installs the extra."""
    install = f"pip install 'assay[{extra}]'"
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        reason = noted(AvailabilityCode.LIBRARY_NOT_INSTALLED, library=distribution)
        return Availability(available=False, reason=reason, install=install)
    if importlib.util.find_spec(module) is None:
        reason = noted(AvailabilityCode.NO_MODULE, library=distribution, version=version, module=module)
        return Availability(available=False, version=version, reason=reason, install=install)
    return Availability(available=True, version=version)

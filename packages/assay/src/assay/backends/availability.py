"""Whether a library is installed, asked of the package metadata: nothing is imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pkgutil
import re

from assay.core.note import noted
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.ports import Availability


def installed(distribution: str, module: str, extra: str) -> Availability:
    """Available where both the distribution and its module are found whole; else the command that installs the extra."""
    install = f"pip install 'assay[{extra}]'"
    try:
        metadata = importlib.metadata.distribution(distribution)
        version = metadata.version
    except (importlib.metadata.PackageNotFoundError, KeyError):
        version = ""
    if not version:  # a folder of metadata without its file has none
        reason = noted(AvailabilityCode.LIBRARY_NOT_INSTALLED, library=distribution)
        return Availability(available=False, reason=reason, install=install)
    if not _is_whole(module, metadata):
        reason = noted(AvailabilityCode.NO_MODULE, library=distribution, version=version, module=module)
        return Availability(available=False, version=version, reason=reason, install=install)
    return Availability(available=True, version=version)


def _is_whole(module: str, distribution: importlib.metadata.Distribution) -> bool:
    """A folder without a file of its own is imported whatever is in it: it is what is left of a package where the distribution lists
    such a file, and of a library that has none (a namespace) where there is nothing to import in it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.has_location:
        return spec is not None
    listed = distribution.read_text("RECORD") or ""
    if re.search(rf"^{re.escape(module)}/__init__\.", listed, re.MULTILINE):
        return False
    return any(pkgutil.iter_modules(spec.submodule_search_locations))

"""Whether a library is installed, asked of the package metadata: nothing is imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from assay.ports import Availability


def installed(distribution: str, module: str, extra: str) -> Availability:
    """Available where both the distribution and its module are found; else the command that installs the extra."""
    install = f"pip install 'assay[{extra}]'"
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return Availability(available=False, reason=f"{distribution} is not installed.", install=install)
    if importlib.util.find_spec(module) is None:
        reason = f"{distribution} {version} is installed but has no module {module}."
        return Availability(available=False, version=version, reason=reason, install=install)
    return Availability(available=True, version=version)

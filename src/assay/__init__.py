"""Tells whether a compiled model is still the model, and still as fast, before it is released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.faces.api import check
    from assay.faces.pytest_plugin import parametrize_flows
    from assay.pipeline.check import Checked

__all__ = ["Checked", "check", "parametrize_flows"]

_HOMES = {
    "check": "assay.faces.api",
    "Checked": "assay.pipeline.check",
    "parametrize_flows": "assay.faces.pytest_plugin",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: a worker must not carry the driver's libraries."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)

"""Tells whether a compiled model is still the model, and still as fast, before it is released."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.commands.check import check
    from assay.pipeline.open_run import Checked
    from assay.pytest_plugin.plugin import parametrize_flows

__all__ = ["Checked", "check", "parametrize_flows"]

_HOMES = {
    "check": "assay.commands.check",
    "Checked": "assay.pipeline.open_run",
    "parametrize_flows": "assay.pytest_plugin.plugin",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: a worker must not carry the driver's libraries."""
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


AssayError.words = staticmethod(lambda note: str(import_module("assay.judge.words.note_text").note_text(note)))

"""Defaults that every command shares."""

from __future__ import annotations

DEFAULT_HISTORY = ".assay"
SUITE_TIMEOUT_S = 60.0
"""For one case of a suite, unless --timeout says otherwise."""

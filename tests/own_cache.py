"""A user's cache of one test, in one place for all: warm workers start from one process for each environment."""

from __future__ import annotations

from pathlib import Path


def cache_at(place: Path, folder: Path) -> Path:
    """`place` leads to this folder from here on. What the tests before it had is never removed under whoever still reads there."""
    coming = place.with_name(f"{place.name}.coming")
    coming.symlink_to(folder)
    coming.replace(place)
    return place

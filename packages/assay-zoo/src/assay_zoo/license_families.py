"""Families of licences, by the words with which people name them."""

from __future__ import annotations

import re

FAMILY = r"\b(?:apache|mit|bsd|gnu|[al]?gpl|mpl|mozilla|epl|eclipse|isc|unlicense|cc0|cc[- ]by)(?=\b|v?\d)"
_FAMILIES = re.compile(FAMILY, re.IGNORECASE)
_SAME = {"gpl": "gnu", "agpl": "gnu", "lgpl": "gnu", "mozilla": "mpl", "eclipse": "epl", "cc by": "cc-by"}


def families_of(words: str) -> set[str]:
    """Each once, under one name."""
    return {_SAME.get(family, family) for family in map(str.casefold, _FAMILIES.findall(" ".join(words.split())))}

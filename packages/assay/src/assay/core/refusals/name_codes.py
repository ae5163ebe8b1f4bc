"""The codes of what is said beside a name that nothing answers to. `assay.judge.refusals.data_text` makes the sentences."""

from __future__ import annotations

import enum
from collections.abc import Collection

from assay.core.nearest_name import nearest
from assay.core.note import Note, noted


class NameCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    NEAR_NAME = "near_name"
    KNOWN_NAMES = "known_names"
    MANY_NAMES = "many_names"


MOST_LISTED = 40
"""Names in one sentence: nobody reads more."""


def name_hint(name: str, known: Collection[str]) -> Note:
    """The name that was probably meant; where none is near, all that there are, or their number where they are many."""
    if near := nearest(name, known):
        return noted(NameCode.NEAR_NAME, near=near)
    if len(known) > MOST_LISTED:
        return noted(NameCode.MANY_NAMES, count=len(known))
    return noted(NameCode.KNOWN_NAMES, names=tuple(known) or ("(none)",))

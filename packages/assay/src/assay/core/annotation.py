"""What a person wrote about a run, or about one cell of it."""

from __future__ import annotations

import msgspec

LONGEST_ANNOTATION = 500


class Annotation(msgspec.Struct, frozen=True):
    """`case` and `flow` are "" where it is about the whole run; else it stands at that point of the cell's trends."""

    at: str
    who: str
    text: str
    run: str
    case: str = ""
    flow: str = ""

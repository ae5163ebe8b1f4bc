"""How a sentence writes a name and a shape of a third party."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.model_part import NAME_LENGTH


def shown(name: str) -> str:
    """In quotes: no control characters, no endless text."""
    return repr(name if len(name) <= NAME_LENGTH else f"{name[:NAME_LENGTH]}...")


def format_shape(shape: Iterable[int | str]) -> str:
    """As people write it: [N, 3, 224, 224]."""
    return f"[{', '.join(str(size)[:40] for size in shape)}]"


def flat(text: str) -> str:
    """On one line, of printable characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split()).rstrip(".")

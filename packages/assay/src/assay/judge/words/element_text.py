"""An element of an output, as a person reads it."""

from __future__ import annotations


def element_text(element: int | float) -> str:
    """An element of an output of whole numbers in full: two large ones differ in their last digits."""
    return str(element) if isinstance(element, int) else f"{element:.9g}"


def in_full(answer: int | float) -> str:
    """As an element, but a real number that is whole in full, too."""
    return f"{answer:.0f}" if float(answer).is_integer() and not isinstance(answer, int) else element_text(answer)

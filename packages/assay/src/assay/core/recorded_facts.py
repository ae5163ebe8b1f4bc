"""The facts of a code as words, also where another version of Assay recorded other facts with it."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.finding import Fact

OTHER_FACTS = (LookupError, TypeError, ValueError)
"""What a sentence raises that is given other facts than its own: fewer, or of another type."""


def as_words(facts: Mapping[str, object]) -> dict[str, object]:
    """Lists with commas between their items, all else as it is."""
    return {name: ", ".join(map(str, value)) if isinstance(value, tuple) else value for name, value in facts.items()}


def of_another_version(code: str, facts: Mapping[str, object]) -> str:
    """A sentence from the code alone, for facts that its own sentence has no words for."""
    text = ", ".join(f"{name}: {value}" for name, value in facts.items())
    return f"{code.replace('_', ' ')}{f' ({text})' if text else ''}, as another version of Assay recorded it"


def number(value: Fact) -> float:
    """Raises TypeError for what another version recorded."""
    if not isinstance(value, int | float):
        raise TypeError(value)
    return value


def listed(value: Fact) -> tuple[int | float | str, ...]:
    """Raises TypeError for what another version recorded."""
    if not isinstance(value, tuple):
        raise TypeError(value)
    return value

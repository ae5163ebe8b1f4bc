"""What an option of a task may be, known before anything is run."""

from __future__ import annotations

from collections.abc import Callable

from assay.core.flow import Option

OptionKind = Callable[[Option], str]
"""Says what the value must be; "" where it is that."""


def any_name(value: Option) -> str:  # noqa: ARG001
    """Of an output or a label: whether it is there is known with the answers."""
    return ""


def one_of(*choices: str) -> OptionKind:
    return lambda value: "" if value in choices else f"{', '.join(choices[:-1])} or {choices[-1]}"


def number(value: Option) -> str:
    return "a number" if isinstance(value, bool | str) else ""


def positive(value: Option) -> str:
    return "" if not isinstance(value, bool | str) and value > 0 else "a number above 0"


def token(value: Option) -> str:
    return "" if isinstance(value, int) and not isinstance(value, bool) else "the number of a token"

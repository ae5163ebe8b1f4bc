"""The choice of a task metric, as it is written: `classification:output=scores,label=truth`."""

from __future__ import annotations

from typing import NamedTuple

from assay.core.flow import Option as Value
from assay.errors import UsageError


class MetricChoice(NamedTuple):
    """The name of a task metric, and what it is given."""

    name: str
    options: dict[str, Value] = {}


def read_metric(text: str) -> MetricChoice | None:
    """None for an empty text. Raises UsageError."""
    name, _, options_text = text.partition(":")
    options: dict[str, Value] = {}
    for part in filter(None, options_text.split(",")):
        key, separator, value = part.partition("=")
        if not separator or not key or not value:
            raise UsageError(
                f"--task-metric {text!r}: {part!r} is not KEY=VALUE; write for example classification:output=scores"
            )
        options[key] = _number(value)
    return MetricChoice(name, options) if name else None


def write_metric(choice: MetricChoice) -> str:
    """The text that is read as this choice."""
    options = ",".join(f"{name}={value_text(value)}" for name, value in choice.options.items())
    return f"{choice.name}:{options}" if options else choice.name


def value_text(value: Value) -> str:
    """A value of a backend's or a task metric's option on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

"""What a user states of the values of inputs: a range, or values that are used in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from assay.core.input_plan import InputRange, RangeSource
from assay.errors import UsageError


def read_range(name: str, text: str) -> InputRange:
    """`0:1`, both included. Raises UsageError."""
    low, separator, high = text.partition(":")
    numbers = [number for number in (_number(low), _number(high)) if number is not None]
    if not separator or len(numbers) != 2:
        raise UsageError(f"the range of input '{name}' is {text!r}: write LOW:HIGH, for example 0:1")
    if numbers[0] > numbers[1]:
        raise UsageError(f"the range of input '{name}' is {text!r}: its lower end is above its upper one")
    return InputRange(numbers[0], numbers[1], source=RangeSource.STATED)


def read_values(name: str, text: str) -> InputRange:
    """`16000`, or `8000,16000`: one of them for each sample, in turn. Raises UsageError."""
    numbers = [_number(part) for part in text.split(",")]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        raise UsageError(f"the value of input '{name}' is {text!r}: write a number, or several as in 8000,16000")
    return InputRange(min(known), max(known), choices=tuple(known), source=RangeSource.STATED)


def range_of(name: str, bounds: str | Sequence[float] | InputRange) -> InputRange:
    """The lowest and the highest value, both included. Raises UsageError."""
    if isinstance(bounds, InputRange):
        return bounds
    return read_range(name, bounds if isinstance(bounds, str) else ":".join(map(repr, bounds)))


def values_of(name: str, choices_or_range: str | float | Sequence[float] | InputRange) -> InputRange:
    """One value, or several. Raises UsageError."""
    if isinstance(choices_or_range, InputRange):
        return choices_or_range
    return read_values(
        name,
        choices_or_range
        if isinstance(choices_or_range, str)
        else ",".join(map(repr, [choices_or_range] if isinstance(choices_or_range, int | float) else choices_or_range)),
    )


def write_range(input_range: InputRange) -> str:
    """The text that is read as this range."""
    return f"{input_range.low:.17g}:{input_range.high:.17g}"


def write_values(input_range: InputRange) -> str:
    """The text that is read as these values."""
    return ",".join(f"{number:.17g}" for number in input_range.choices)


def stated(ranges: Mapping[str, InputRange], values: Mapping[str, InputRange]) -> dict[str, InputRange]:
    """Both. Raises UsageError for an input of which both are given."""
    if twice := [name for name in values if name in ranges]:
        raise UsageError(f"input '{twice[0]}' has a range and a value; leave out one of the two")
    return {**ranges, **values}


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None

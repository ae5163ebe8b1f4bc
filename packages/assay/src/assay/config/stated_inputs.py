"""What a user states of the values of inputs: as it is written, and compared with what the model takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from math import isfinite

from assay.core.case import Case
from assay.core.dtype import is_floating
from assay.core.input_plan import InputRange
from assay.errors import UsageError

STATED = "as stated"


def parse_range(name: str, text: str) -> InputRange:
    """`0:1`, both included. Raises UsageError."""
    low, separator, high = text.partition(":")
    numbers = [number for number in (_number(low), _number(high)) if number is not None]
    if not separator or len(numbers) != 2:
        raise UsageError(f"the range of input '{name}' is {text!r}: write LOW:HIGH, for example 0:1")
    if numbers[0] > numbers[1]:
        raise UsageError(f"the range of input '{name}' is {text!r}: its lower end is above its upper one")
    return InputRange(numbers[0], numbers[1], why=STATED)


def parse_values(name: str, text: str) -> InputRange:
    """`16000`, or `8000,16000`: one of them for each sample, in turn. Raises UsageError."""
    numbers = [_number(one) for one in text.split(",")]
    known = [one for one in numbers if one is not None]
    if len(known) < len(numbers):
        raise UsageError(f"the value of input '{name}' is {text!r}: write a number, or several as in 8000,16000")
    return InputRange(min(known), max(known), choices=tuple(known), why=STATED)


def stated(ranges: Iterable[tuple[str, str]], values: Iterable[tuple[str, str]]) -> dict[str, InputRange]:
    """(name, text) each. Raises UsageError for an input of which both are given."""
    found = {name: parse_range(name, text) for name, text in ranges}
    for name, text in values:
        if name in found:
            raise UsageError(f"input '{name}' has a range and a value; leave out one of the two")
        found[name] = parse_values(name, text)
    return found


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def check_stated(case: Case) -> None:
    """Raises UsageError for an input that the model does not have, and for numbers that it cannot hold."""
    known = {spec.name: spec for spec in case.model.inputs}
    for name, one in case.inputs.ranges.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            instead = f"perhaps you mean '{near[0]}'" if near else f"it has {', '.join(known) or 'none'}"
            raise UsageError(f"model '{case.name}' has no input '{name}'; {instead}")
        dtype = known[name].dtype
        if dtype == "string":
            raise UsageError(f"input '{name}' of model '{case.name}' takes texts, not numbers; give a golden")
        if case.inputs.golden or case.inputs.data is not None or case.inputs.given:
            raise UsageError(
                f"a range or a value of input '{name}' cannot go with a golden, which brings its own inputs"
            )
        numbers = one.choices or tuple(end for end in (one.low, one.high) if end is not None)
        if not is_floating(dtype) and not dtype.startswith("complex") and any(number % 1 for number in numbers):
            raise UsageError(f"input '{name}' of model '{case.name}' is {dtype}: state whole numbers")
        if (dtype == "bool" and not {*numbers} <= {0, 1}) or (dtype.startswith("uint") and min(numbers) < 0):
            raise UsageError(f"input '{name}' of model '{case.name}' is {dtype}, which does not hold {min(numbers):g}")

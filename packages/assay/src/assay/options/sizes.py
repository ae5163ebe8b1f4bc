"""The sizes of a symbolic dimension, as they are written and as values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from assay.errors import UsageError

MOST_SIZES = 64
"""At which one engine is verified: each costs an evaluation of the reference."""
_FORMS = "write one size (96), a list (64,96,160), MIN:OPT:MAX (64:96:160) or MIN:MAX:STEP (64:160:32)"
_WHOLE_NUMBER = r"[0-9]{1,9}"


class Sizes(NamedTuple):
    """The least, the usual and the largest; `listed` are all of them, where a list or a step was given."""

    least: int
    usual: int
    most: int
    listed: tuple[int, ...] = ()


def sizes_of(name: str, sizes: str | int | Sequence[int] | Sizes) -> Sizes:
    """Of a dimension called `name`. A list of three numbers that do not fall is MIN:OPT:MAX. Raises UsageError."""
    if isinstance(sizes, Sizes):
        return sizes
    if isinstance(sizes, str):
        return read_sizes(name, sizes)
    return _numbers(name, [sizes] if isinstance(sizes, int) else list(sizes))


def read_sizes(name: str, text: str) -> Sizes:
    """The first of a list is the usual one.

    `a:b:c` is MIN:OPT:MAX where it does not fall, and MIN:MAX:STEP where the last is less than the first. Raises UsageError
    for what could be both, and for what is neither.
    """
    words = text.replace(" ", "")
    if re.fullmatch(rf"{_WHOLE_NUMBER}(,{_WHOLE_NUMBER})*", words):
        return _listed(name, [int(part) for part in words.split(",")], text)
    if not re.fullmatch(rf"{_WHOLE_NUMBER}:{_WHOLE_NUMBER}:{_WHOLE_NUMBER}", words):
        raise UsageError(f"dimension '{name}' is {text!r}: {_FORMS}")
    first, second, third = (int(part) for part in words.split(":"))
    if first <= second <= third:
        return Sizes(*check_sizes(name, (first, second, third)))
    if first > second or third == 0:
        raise UsageError(f"dimension '{name}' is {text!r}, which is neither MIN:OPT:MAX nor MIN:MAX:STEP: {_FORMS}")
    if third >= first:
        raise UsageError(
            f"dimension '{name}' is {text!r}: that is a step of {third} from {first} to {second}, or sizes out of order; write "
            f"{first}:{third}:{second} for MIN:OPT:MAX, or list the sizes ({_some(range(first, second + 1, third))})"
        )
    return _listed(name, list(range(first, second + 1, third)), text)


def write_sizes(sizes: Sizes) -> str:
    """The text that is read as these sizes."""
    if sizes.listed:
        return ",".join(map(str, sizes.listed))
    return f"{sizes.least}:{sizes.usual}:{sizes.most}"


def check_sizes(name: str, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """Raises UsageError unless 1 <= least <= usual <= most."""
    least, usual, most = sizes
    if not 1 <= least <= usual <= most:
        raise UsageError(
            f"dimension '{name}' is {least}:{usual}:{most}: give the least, the usual and the largest size in this order"
        )
    return sizes


def _some(sizes: range) -> str:
    shown = list(sizes[:4])
    return ",".join(map(str, shown)) + (",..." if len(sizes) > len(shown) else "")


def _listed(name: str, sizes: list[int], text: str) -> Sizes:
    if len(sizes) > MOST_SIZES:
        raise UsageError(
            f"dimension '{name}' is {text!r}: these are {len(sizes)} sizes, and {MOST_SIZES} are the most; take a larger step"
        )
    if min(sizes) < 1:
        raise UsageError(f"dimension '{name}' is {text!r}: a size is 1 or more; {_FORMS}")
    return Sizes(min(sizes), sizes[0], max(sizes), tuple(dict.fromkeys(sizes)))


def _numbers(name: str, sizes: Sequence[int]) -> Sizes:
    if len(sizes) == 3 and list(sizes) == sorted(sizes):
        least, usual, most = sizes
        return Sizes(*check_sizes(name, (least, usual, most)))
    return _listed(name, list(sizes), str(list(sizes)))

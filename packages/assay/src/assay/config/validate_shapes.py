"""The sizes that a case names for symbolic dimensions: as users write them, and compared with what its model has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from assay.core.case import Case
from assay.core.model import Model
from assay.errors import UsageError

MOST_SIZES = 64
"""At which one engine is verified: each costs an evaluation of the reference."""
_FORMS = "write one size (96), a list (64,96,160), MIN:OPT:MAX (64:96:160) or MIN:MAX:STEP (64:160:32)"
_WHOLE_NUMBER = r"[0-9]{1,9}"


@dataclass(frozen=True)
class Dimensions:
    """`dims` are (least, usual, most) by name; `sizes` all that were listed, where a list or a step was given."""

    dims: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)


def parse_dims(texts: Iterable[tuple[str, str | Sequence[int]]]) -> Dimensions:
    """(name, sizes) each. A list of three numbers that do not fall is MIN:OPT:MAX. Raises UsageError."""
    found = Dimensions()
    for name, told in texts:
        triple, listed = parse_sizes(name, told) if isinstance(told, str) else _numbers(name, told)
        found.dims[name] = triple
        if listed:
            found.sizes[name] = listed
    return found


def parse_sizes(name: str, text: str) -> tuple[tuple[int, int, int], tuple[int, ...]]:
    """The least, the usual and the largest size, and all of them where they are listed: the first of a list is the usual one.

    `a:b:c` is MIN:OPT:MAX where it does not fall, and MIN:MAX:STEP where the last is less than the first. Raises UsageError
    for what could be both, and for what is neither.
    """
    words = text.replace(" ", "")
    if re.fullmatch(rf"{_WHOLE_NUMBER}(,{_WHOLE_NUMBER})*", words):
        return _listed(name, [int(one) for one in words.split(",")], text)
    if not re.fullmatch(rf"{_WHOLE_NUMBER}:{_WHOLE_NUMBER}:{_WHOLE_NUMBER}", words):
        raise UsageError(f"dimension '{name}' is {text!r}: {_FORMS}")
    first, second, third = (int(one) for one in words.split(":"))
    if first <= second <= third:
        return check_sizes(name, (first, second, third)), ()
    if first > second or third == 0:
        raise UsageError(f"dimension '{name}' is {text!r}, which is neither MIN:OPT:MAX nor MIN:MAX:STEP: {_FORMS}")
    if third >= first:
        raise UsageError(
            f"dimension '{name}' is {text!r}: that is a step of {third} from {first} to {second}, or sizes out of order; write "
            f"{first}:{third}:{second} for MIN:OPT:MAX, or list the sizes ({_some(range(first, second + 1, third))})"
        )
    return _listed(name, list(range(first, second + 1, third)), text)


def _some(sizes: range) -> str:
    shown = list(sizes[:4])
    return ",".join(map(str, shown)) + (",..." if len(sizes) > len(shown) else "")


def _listed(name: str, sizes: list[int], text: str) -> tuple[tuple[int, int, int], tuple[int, ...]]:
    if len(sizes) > MOST_SIZES:
        raise UsageError(
            f"dimension '{name}' is {text!r}: these are {len(sizes)} sizes, and {MOST_SIZES} are the most; take a larger step"
        )
    if min(sizes) < 1:
        raise UsageError(f"dimension '{name}' is {text!r}: a size is 1 or more; {_FORMS}")
    return (min(sizes), sizes[0], max(sizes)), tuple(dict.fromkeys(sizes))


def _numbers(name: str, sizes: Sequence[int]) -> tuple[tuple[int, int, int], tuple[int, ...]]:
    if len(sizes) == 3 and list(sizes) == sorted(sizes):
        least, usual, most = sizes
        return check_sizes(name, (least, usual, most)), ()
    return _listed(name, list(sizes), str(list(sizes)))


def check_dims(case: Case) -> None:
    """Raises UsageError for a dimension that the model does not have, and for sizes that are out of order."""
    symbols = named_dimensions(case.model)
    for name, sizes in case.inputs.dims.items():
        check_sizes(name, sizes)
        if name not in symbols:
            raise UsageError(f"model '{case.name}' has no symbolic dimension '{name}'; {_instead(name, symbols)}")


def named_dimensions(model: Model) -> list[str]:
    """Their names, or `input[2]` for those without."""
    return list(
        dict.fromkeys(
            f"{spec.name}[{axis}]" if one == "?" else one
            for spec in model.inputs
            for axis, one in enumerate(spec.shape)
            if isinstance(one, str) and one != "..."
        )
    )


def check_sizes(name: str, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """Raises UsageError unless 1 <= least <= usual <= most."""
    least, usual, most = sizes
    if not 1 <= least <= usual <= most:
        raise UsageError(
            f"dimension '{name}' is {least}:{usual}:{most}: give the least, the usual and the largest size in this order"
        )
    return sizes


def _instead(name: str, symbols: list[str]) -> str:
    near = difflib.get_close_matches(name, symbols, n=1)
    if near:
        return f"perhaps you mean '{near[0]}'"
    return f"it has {', '.join(symbols)}" if symbols else "all its inputs have fixed shapes"

"""Are two suspects of one backend one cause? Decided by experiments: what makes the one right is done to the other.

A cure of a case is an attribute left out, numbers, a type or an opset replaced, a pass left out. One that cures both makes them one cause.
Where each cure of one leaves the other wrong they are two. Where nothing could be tried that says either, it is not decided."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

from assay.core.screening import Use
from assay.fuzz.corpus import Bucket

NEUTRAL = frozenset(
    ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Constant", "Dropout", "Expand")
)
"""Operators that move values; where they stand beside others they are no part of a pattern."""
GRID = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"))
ON_A_GRID = "grid"
EXACT = frozenset(("shape", "type", "missing", "crash", "timeout", "out_of_memory", "failed", *Use))
"""Kinds that are never taken for one another; the rest is about values."""


class Relation(enum.StrEnum):
    """Of two suspects."""

    SAME = "same"
    UNDECIDED = "undecided"
    DIFFERENT = "different"


def relation(one: Bucket, other: Bucket) -> Relation:
    """Symmetrical."""
    if one.backend != other.backend or family(one.kind) != family(other.kind):
        return Relation.DIFFERENT
    mine, theirs = pattern(one.operators), pattern(other.operators)
    cured, cured_there = cures(one), cures(other)
    shared = cured & cured_there
    if not (_within(mine, theirs) or _within(theirs, mine)):
        if _kin_without_one_attribute(one, other):
            return Relation.SAME
        common = {*mine} & {*theirs} - {ON_A_GRID}
        return Relation.UNDECIDED if common and {*one.brought} & {*other.brought} else Relation.DIFFERENT
    if shared or (not cured and not cured_there and mine == theirs):
        return Relation.SAME
    crossed = [*(_leaves_wrong(name, other) for name in cured), *(_leaves_wrong(name, one) for name in cured_there)]
    tried = [found for found in crossed if found is not None]
    return Relation.DIFFERENT if tried and all(tried) else Relation.UNDECIDED


def nearest(one: Bucket, others: Iterable[Bucket]) -> tuple[Relation, Bucket | None]:
    """The closest relation, and to which: known ones before others, the first of each."""
    found = [(relation(one, other), other) for other in others if other.key != one.key]
    for wanted in (Relation.SAME, Relation.UNDECIDED):
        alike = [other for came, other in found if came is wanted]
        if alike:
            return wanted, next((other for other in alike if other.known), alike[0])
    return Relation.DIFFERENT, None


def family(kind: str) -> str:
    """Kinds of failure that one cause may have."""
    first = kind.partition(" ")[0]
    return first if first in EXACT else "values"


def pattern(operators: Sequence[str]) -> tuple[str, ...]:
    """What is left of the operators of a case without those that only move values; quantizers are one word in front."""
    names = [one.partition("@")[0] for one in operators]
    kept = [name for name in names if name not in NEUTRAL and name not in GRID]
    on_a_grid = (ON_A_GRID,) if GRID & {*names} else ()
    return (*on_a_grid, *dict.fromkeys(kept)) or tuple(dict.fromkeys(names))


def cures(one: Bucket) -> set[str]:
    """Names of what makes it right, a pass among them."""
    return {name for name, right in one.ablated.items() if right} | {f"pass {name}" for name in one.brought}


def _leaves_wrong(name: str, other: Bucket) -> bool | None:
    """Whether the other is wrong still, once that is done to it; None where it was not tried."""
    if name.startswith("pass "):
        return None if not other.brought else True  # a shared one was looked for before
    if name in other.ablated:
        return not other.ablated[name]
    operator, dot, attribute = name.partition(".")
    stated = {full.partition("=")[0] for full in other.attributes}
    if dot and attribute and f"{operator}.{attribute}" not in stated:
        return True  # it is wrong without
    return None


def _kin_without_one_attribute(one: Bucket, other: Bucket) -> bool:
    """One operator each, that are made alike (GRU and LSTM, say), both right without an attribute of the same name: a family that drops
    an attribute is one defect."""
    mine, theirs = pattern(one.operators), pattern(other.operators)
    if len(mine) != 1 or len(theirs) != 1 or not _are_kin(mine[0], theirs[0]):
        return False
    return bool(_attributes_of(cures(one)) & _attributes_of(cures(other)))


def _attributes_of(names: Iterable[str]) -> set[str]:
    return {attribute for name in names for _, dot, attribute in [name.partition(".")] if dot}


def _are_kin(one: str, other: str) -> bool:
    from assay.generators.operators import forms

    known = forms()
    return one in known and other in known and known[one] is known[other]


def _within(small: Sequence[str], large: Sequence[str]) -> bool:
    """In that order, with others between."""
    rest = iter(large)
    return all(name in rest for name in small)

"""Are two suspects of one backend one cause? Decided by experiments: what makes the one right is done to the other.

A cure of a case is an attribute left out, numbers, a type or an opset replaced, a pass left out. One that cures both makes them one cause.
Where each cure of one leaves the other wrong they are two. Where nothing could be tried that says either, it is not decided."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

from assay.core.screening import (
    ANY_OPERATOR,
    AS_KIN,
    FED,
    FILLED,
    FULL,
    INSTEAD,
    NO_ZERO,
    SCALES,
    STATED,
    UNTIED,
    WITH_EXP,
    Use,
    is_of_use,
)
from assay.fuzz.corpus import Bucket
from assay.fuzz.cures import agree, cures, executed, passes, unsigned
from assay.fuzz.deciding_fact import of_one_fact
from assay.fuzz.old_reader import ignored_of, is_all_of_a_version
from assay.fuzz.operator_forms import are_kin, is_input
from assay.fuzz.shared_word import of_one_word
from assay.fuzz.suspect_pattern import ANSWERS, ENDED, MOVERS, ON_A_GRID, family, in_order, pattern, plain, replaced
from assay.fuzz.uncured import fail_alike
from assay.fuzz.unjudged import UNJUDGED, may_be_as_recorded


class Relation(enum.StrEnum):
    """Of two suspects."""

    SAME = "same"
    UNDECIDED = "undecided"
    DIFFERENT = "different"


WEAK = frozenset(("inputs", "constants", "stored"))
"""Replacements that make much right: where only a part of the patterns is the same they say nothing."""


def relation(bucket: Bucket, other: Bucket) -> Relation:
    """Symmetrical."""
    if bucket.backend != other.backend:
        return Relation.DIFFERENT
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    if UNJUDGED in (bucket.kind, other.kind):
        return Relation.UNDECIDED if mine == theirs and may_be_as_recorded(bucket, other) else Relation.DIFFERENT
    if is_of_use(bucket.ablated) or is_of_use(other.ablated):
        return _in_use(bucket, other)
    shared = cures(bucket) & cures(other)
    families = {family(bucket.kind), family(other.kind)}
    if families <= ANSWERS and (_is_of_nothing_alone(bucket, other) or _is_of_nothing_alone(other, bucket)):
        return Relation.DIFFERENT
    if families <= ANSWERS and _answer_alike(bucket, other, shared):
        return Relation.SAME
    is_one_crash = families == {"crash"} and bucket.signal == other.signal
    if (families <= ANSWERS or is_one_crash) and _scaled_alike(bucket, other, shared):
        return Relation.SAME
    if is_one_crash and (of_one_fact(bucket, other) or _as_each_other(bucket, other)):
        return Relation.SAME
    is_untried = families <= ENDED and not (bucket.ablated and other.ablated)
    uncured = mine == theirs and (is_untried or not (cures(bucket) or cures(other)))
    if uncured and (len(families) == 1 or families <= ANSWERS):
        return Relation.SAME if fail_alike(bucket, other) else Relation.UNDECIDED
    if _may_read_one_memory(families, bucket, other):
        return Relation.UNDECIDED
    if families <= ANSWERS and (of_one_word(bucket, other) or _leave_out_zeros(bucket, other)):
        return Relation.UNDECIDED
    if len(families) > 1:
        return _of_two_kinds(bucket, other, families)
    nested = _is_nested(bucket, other)
    is_kin_in_use = _kin_in_one_use(bucket, other)
    if (mine == theirs and shared) or (is_kin_in_use and (_strong(shared) or _as_each_other(bucket, other))):
        return Relation.SAME
    if nested and (_strong(shared) or executed(bucket) & executed(other)):
        return Relation.SAME
    is_kin_out = shared and (is_kin_in_use or (_leave_a_domain(bucket, other) and are_kin(mine[-1], theirs[-1])))
    if is_kin_out or (is_one_crash and FILLED in shared) or (families <= ANSWERS and _is_open(bucket, other, shared)):
        return Relation.UNDECIDED
    if not nested and not _one_end(mine, theirs):
        is_one_pass = bool(passes(bucket) & passes(other))
        return Relation.UNDECIDED if is_one_pass and {*mine} & {*theirs} else Relation.DIFFERENT
    return _crossed(bucket, other)


def _answer_alike(bucket: Bucket, other: Bucket, shared: set[str]) -> bool:
    """Of two wrong answers: whether an experiment makes them one."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    return bool(
        _of_one_quantizer(mine, theirs, shared)
        or _moved_on_a_grid(bucket, other, shared)
        or _as_each_other(bucket, other)
        or _kin_without_one_attribute(bucket, other)
        or _read_as_before(bucket, other)
        or (mine == theirs and _leave_out_zeros(bucket, other) and agree(bucket, other, but=WEAK))
        or _both_wrong_with_exp(bucket, other)
        or (_strong(shared) and (mine == theirs or _leave_a_domain(bucket, other)))
    )


def _is_of_nothing_alone(bucket: Bucket, other: Bucket) -> bool:
    """Whether the one is right once its inputs have elements, and all values of the other have some."""
    return FILLED in cures(bucket) and FULL in other.ablated


def _strong(shared: set[str]) -> set[str]:
    """Those that do not make much right: equal numbers made different do where any other numbers make both right as well."""
    return shared - WEAK - ({UNTIED} if "inputs" in shared else set())


def _in_use(first: Bucket, other: Bucket) -> Relation:
    """Where one at least is wrong in its use whatever the operator: what is so of the other is one, what a plain model passes another."""
    ended = family(first.kind) in ENDED  # then the use is where an operator has its attributes
    if first.kind != other.kind or (ended and first.attributes != other.attributes):
        return Relation.DIFFERENT
    tried = [bucket.ablated.get(ANY_OPERATOR) for bucket in (first, other)]
    if None in tried:
        return Relation.UNDECIDED
    return Relation.DIFFERENT if any(tried) else Relation.SAME


def _is_open(bucket: Bucket, other: Bucket, shared: set[str]) -> bool:
    """What is not there is read, or one of equal numbers is picked, by one piece of code or two; or one fails in the place of the other."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    swapped = (_instead(bucket, theirs[-1]), _instead(other, mine[-1])) if mine and theirs else ()
    is_swapped = False in swapped and True not in swapped and bool(_strong(shared))
    is_tied = UNTIED in _strong(shared) or (UNTIED in shared and agree(bucket, other, but=WEAK))
    return is_swapped or FILLED in shared or is_tied


def _kin_in_one_use(bucket: Bucket, other: Bucket) -> bool:
    """One operator each, that are made alike, wrong in the same use: a family that is saved wrongly, say, may be one defect."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    is_one_use = bucket.kind == other.kind and bucket.kind in {*Use} and len(mine) == len(theirs) == 1
    return is_one_use and are_kin(mine[0], theirs[0]) and agree(bucket, other)


def _both_wrong_with_exp(bucket: Bucket, other: Bucket) -> bool:
    return {bucket.ablated.get(WITH_EXP), other.ablated.get(WITH_EXP)} == {False}


def _leave_a_domain(bucket: Bucket, other: Bucket) -> bool:
    """No numbers behind the same operators: these may leave the domain of the one behind (Asin, or Acos, of a Tanh)."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    is_range = bucket.kind == other.kind == "range"
    return is_range and len(mine) > 1 and mine[:-1] == theirs[:-1] and agree(bucket, other)


def _crossed(bucket: Bucket, other: Bucket) -> Relation:
    """Two causes where each cure of the one leaves the other wrong."""
    tried = {
        *(_leaves_wrong(name, other, bucket) for name in cures(bucket)),
        *(_leaves_wrong(name, bucket, other) for name in cures(other)),
    } - {None}
    is_another = not tried and True in _swapped(bucket, other) and replaced(bucket.operators, other.operators)
    return Relation.DIFFERENT if tried == {True} or is_another else Relation.UNDECIDED


def _of_two_kinds(bucket: Bucket, other: Bucket, families: set[str]) -> Relation:
    """A wrong shape and wrong values of one operator at the end, or a crash and a wrong answer of the same. What is wrong may not run where
    others come behind it."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    if families - ANSWERS == {"failed"}:
        is_one = _is_nested(bucket, other) and bool(cures(bucket) & cures(other))
        return Relation.UNDECIDED if is_one else Relation.DIFFERENT
    is_one_pattern = len(bucket.operators) > 1 and plain(bucket.operators) == plain(other.operators)
    is_near = is_one_pattern or _one_end(mine, theirs)
    is_near = is_near if families <= ANSWERS else mine == theirs and families - ANSWERS == {"crash"}
    return _crossed(bucket, other) if is_near else Relation.DIFFERENT


def _of_one_quantizer(mine: Sequence[str], theirs: Sequence[str], shared: set[str]) -> bool:
    """Both right with quantizers of other bits: what stands beside these does not matter."""
    return mine[:1] == theirs[:1] == (ON_A_GRID,) and not shared.isdisjoint(("type int16", "type int4"))


def _moved_on_a_grid(first: Bucket, other: Bucket, shared: set[str]) -> bool:
    """Both a grid and what only moves its values, however it does, and no experiment tells them apart."""
    both = [{name for name in pattern(bucket.operators) if name != ON_A_GRID} for bucket in (first, other)]
    grids = all(pattern(bucket.operators)[:1] == (ON_A_GRID,) for bucket in (first, other))
    return grids and all(names and names <= MOVERS for names in both) and bool(_strong(shared)) and agree(first, other)


def _may_read_one_memory(families: set[str], bucket: Bucket, other: Bucket) -> bool:
    """A wrong answer and a process that ends, of one operator or of two of which one fails in the place of the other, and right without
    the same: memory that is not theirs ends a process one time and not the next."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    if not ("crash" in families and families & ANSWERS and _strong(cures(bucket) & cures(other)) and mine and theirs):
        return False
    return mine == theirs or False in (_instead(bucket, theirs[-1]), _instead(other, mine[-1]))


def _instead(bucket: Bucket, operator: str) -> bool | None:
    return bucket.ablated.get(f"{INSTEAD}{operator}")


def _as_each_other(bucket: Bucket, other: Bucket) -> bool:
    """One operator each, that are made alike, or one in a pattern that is the same else, and one of the two cases is as wrong with the
    operator of the other."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    if family(bucket.kind) != family(other.kind):
        return False
    two = replaced(bucket.operators, other.operators)
    swapped = _swapped(bucket, other) if two is not None and are_kin(*two) else ()
    if len(mine) == len(theirs) == 1:
        swapped = (*swapped, bucket.ablated.get(f"{AS_KIN}{theirs[0]}"), other.ablated.get(f"{AS_KIN}{mine[0]}"))
    return False in swapped and True not in swapped and agree(bucket, other)


def _swapped(bucket: Bucket, other: Bucket) -> tuple[bool | None, ...]:
    """Whether each is right with the operators of the other, which differ in one."""
    both = [AS_KIN + "+".join(plain(case.operators)) for case in (other, bucket)]
    return bucket.ablated.get(both[0]), other.ablated.get(both[1])


def _scaled_alike(bucket: Bucket, other: Bucket, shared: set[str]) -> bool:
    """Both right with one scale for all, or wrong with one kernel, one of them as wrong with the operator of the other, and no experiment
    tells them apart."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    is_one = SCALES in shared or bool(executed(bucket) & executed(other))
    if not is_one or len(mine) != 2 or len(theirs) != 2 or not agree(bucket, other):
        return False
    swapped = [_instead(bucket, theirs[-1]), _instead(other, mine[-1])]
    return mine == theirs or (False in swapped and True not in swapped)


def _one_end(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether the same operator gives what is wrong, behind others."""
    return len(mine) > 1 and len(theirs) > 1 and mine[-1] == theirs[-1]


def _leaves_wrong(name: str, other: Bucket, bucket: Bucket) -> bool | None:
    """Whether the other is wrong still, once that is done to it; None where it was not tried. It makes the `bucket` right."""
    if name.startswith("pass "):
        return None if not other.brought else True  # a shared one was looked for before
    their_ablations = {unsigned(ablation): right for ablation, right in other.ablated.items()}
    if name in their_ablations:
        return not their_ablations[name]
    if name == "stored" and FED in other.ablated:  # and its operators need no constants to be wrong
        return True if pattern(other.operators) != pattern(bucket.operators) else None
    if name.startswith(STATED):  # it may have stated it
        return None
    operator, dot, attribute = name.partition(".")
    stated = {full.partition("=")[0] for full in (*other.attributes, *other.stated)}
    if dot and attribute and f"{operator}.{attribute}" not in stated and not is_input(operator, attribute):
        return True  # it is wrong without
    return None


def _kin_without_one_attribute(bucket: Bucket, other: Bucket) -> bool:
    """One operator each, that are made alike (GRU and LSTM, say), both right without an attribute of the same name: a family that drops
    an attribute is one defect."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    if len(mine) != 1 or len(theirs) != 1 or not are_kin(mine[0], theirs[0]):
        return False
    return bool(_attributes_of(cures(bucket)) & _attributes_of(cures(other)))


def _leave_out_zeros(bucket: Bucket, other: Bucket) -> bool:
    """Both take an attribute of 0 for one that was left out."""
    return bool(bucket.ablated.get(NO_ZERO) and other.ablated.get(NO_ZERO))


def _read_as_before(bucket: Bucket, other: Bucket) -> bool:
    """One operator, and what the two ignore is all that one version of it brought: the reader is of the version before."""
    mine, theirs = pattern(bucket.operators), pattern(other.operators)
    own, their_own = ignored_of(bucket.ablated), ignored_of(other.ablated)
    is_one_reader = bool(own and their_own) and is_all_of_a_version(mine[0], own | their_own)
    return len(mine) == 1 and mine == theirs and is_one_reader


def _attributes_of(names: Iterable[str]) -> set[str]:
    return {attribute for name in names for _, dot, attribute in [name.partition(".")] if dot}


def _is_nested(bucket: Bucket, other: Bucket) -> bool:
    """Whether all that the one needs to be wrong is in the other. Where that is quantizers alone, these."""
    mine, theirs = in_order(bucket.operators), in_order(other.operators)
    if (ON_A_GRID,) in (mine, theirs):
        mine, theirs = plain(bucket.operators), plain(other.operators)
    return _within(mine, theirs) or _within(theirs, mine)


def _within(small: Sequence[str], large: Sequence[str]) -> bool:
    """In that order, with others between."""
    rest = iter(large)
    return all(name in rest for name in small)

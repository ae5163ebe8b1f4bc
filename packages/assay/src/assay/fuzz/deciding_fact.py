"""Of what ended its process: the fact that decides it, where that is not the operator, by what was tried of it in fresh processes."""

from __future__ import annotations

from assay.core.outcome import Outcome
from assay.core.screening import AS_KIN, INSTEAD, NOT_TYPE, Suspect
from assay.fuzz.corpus import Bucket


def fact_of(kind: str, ablated: dict[str, bool]) -> str:
    """As "2 operands of uint8": it lives with another type, and each other operator that could be tried in its place ends as it does. Empty
    where none that is not made alike was tried, or one of them lives: then the type alone is not the cause."""
    others = [lives for name, lives in ablated.items() if name.startswith((INSTEAD, AS_KIN))]
    are_unlike = any(name.startswith(INSTEAD) for name in ablated)
    cured = [name.removeprefix(NOT_TYPE) for name, lives in ablated.items() if lives and name.startswith(NOT_TYPE)]
    decided = kind == Outcome.CRASH.value and len(cured) == 1 and are_unlike and not any(others)
    return cured[0] if decided else ""


def of_one_fact(bucket: Bucket, other: Bucket) -> bool:
    """Two crashes with one signal, and what decides the one decides the other: one of the two ends with the operator of the other in
    place of its own, or both end with a third. Of a known case nothing is tried: it has to be of that type alone, and the other has to end
    with its operator."""
    if bucket.kind != other.kind or bucket.signal != other.signal:
        return False
    facts = fact_of(bucket.kind, bucket.ablated), fact_of(other.kind, other.ablated)
    if all(facts):
        return facts[0] == facts[1] and bool(ends_as(bucket) & ends_as(other))
    return _decides(facts[0], bucket, other) or _decides(facts[1], other, bucket)


def _decides(fact: str, bucket: Bucket, untried: Bucket) -> bool:
    if not fact or untried.ablated or len(untried.operators) != 1:
        return False
    is_of_type = len(untried.dtypes) == 1 and fact.endswith(f" {untried.dtypes[0]}")
    return is_of_type and not ends_as(untried).isdisjoint(ends_as(bucket))


def ends_as(bucket: Bucket | Suspect) -> set[str]:
    """The operators with which it ends: its own, and those that were tried in its place."""
    own = {operator.partition("@")[0] for operator in bucket.operators}
    tried = {
        name.removeprefix(before)
        for name, lives in bucket.ablated.items()
        for before in (INSTEAD, AS_KIN)
        if not lives and name.startswith(before)
    }
    return own | tried

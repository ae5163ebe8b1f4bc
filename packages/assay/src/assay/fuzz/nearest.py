"""Which of the buckets that are there a suspect belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from assay.fuzz.corpus import CAUSES, Bucket, is_cause, is_compared
from assay.fuzz.same_cause import Relation, relation
from assay.fuzz.suspect_pattern import pattern


def nearest(bucket: Bucket, others: Iterable[Bucket]) -> tuple[Relation, Bucket | None]:
    """The closest relation, and to which of those that prove something: known ones and causes before what is open still, then one of the
    same pattern before others, then known ones before new ones."""
    related = [(relation(bucket, other), other) for other in others if other.key != bucket.key and is_compared(other)]
    for wanted in (Relation.SAME, Relation.UNDECIDED):
        alike = [other for came, other in related if came is wanted]
        if alike:
            mine = pattern(bucket.operators)
            return wanted, min(
                alike,
                key=lambda other: (
                    not other.known and other.status not in CAUSES,
                    pattern(other.operators) != mine,
                    not other.known,
                ),
            )
    return Relation.DIFFERENT, None


def may_be_a_cause(bucket: Bucket, others: Iterable[Bucket]) -> bool:
    """Whether it may be one that is there, or a known one: then it proves nothing of one that may be that as well."""
    came, _ = nearest(bucket, [other for other in others if other.known or is_cause(other)])
    return came is Relation.UNDECIDED

"""Which of the suspects that wait is looked into next."""

from __future__ import annotations

from collections.abc import Iterable

from assay.fuzz.corpus import Bucket, Waiting, is_compared


def new_looking_first(waiting: Iterable[Waiting], buckets: Iterable[Bucket]) -> list[Waiting]:
    """In their order, but first those whose operators are not all that a cause there has, with others around it: one defect in a common
    pattern makes many suspects, and each look that it takes is one less for another defect."""
    seen = [(bucket.flow, _operators(bucket.operators)) for bucket in buckets if is_compared(bucket)]
    causes = {(flow, operators) for flow, operators in seen if operators}

    def held(entry: Waiting) -> int:
        mine = _operators(entry.suspect.operators)
        return sum(flow == entry.flow and operators <= mine for flow, operators in causes)

    return sorted(waiting, key=held)


def _operators(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition("@")[0] for name in names)

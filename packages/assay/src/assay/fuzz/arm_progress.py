"""Which cases of an arm come next: after those that were screened, and after one that ended its worker, which takes with it what it knew of
those before. Nothing is left out but that one."""

from __future__ import annotations

from msgspec.structs import replace

from assay.fuzz.corpus import Arm


def end_of(arm: Arm, end: int) -> int:
    """The first index that the next job leaves out, where without a worker that ended it were `end`."""
    return min(end, arm.ended) if arm.ended else end


def screened(arm: Arm, done: int) -> Arm:
    """After the cases before the index `done`."""
    if arm.ended and done >= arm.ended:
        return replace(arm, next=arm.ended + 1, cases=arm.cases + arm.ended + 1 - arm.next, ended=0)
    return replace(arm, next=done, cases=arm.cases + done - arm.next)


def ended(arm: Arm, index: int) -> Arm:
    """After a worker that the case `index` ended."""
    if index > arm.next:
        return replace(arm, ended=index)
    after = replace(arm, next=index + 1, cases=arm.cases + 1)
    return screened(after, after.next)


def add_counts(whole: dict[str, dict[str, int]], name: str, part: dict[str, int]) -> None:
    """To those of that arm, or of that flow."""
    mine = whole.setdefault(name, {})
    for key, count in part.items():
        mine[str(key)] = mine.get(str(key), 0) + count

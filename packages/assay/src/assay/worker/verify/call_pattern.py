"""When do the answers of an engine differ? Told from the log of its calls alone, where that is enough."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from statistics import median_low

from assay.core.repeats import Pattern
from assay.worker.verify.call_log import OTHER, Call, later_calls

_LITTLE = 0.05
"""Of the largest difference on the same sample: what is smaller is noise beside it."""
_NOISE = 1e-3
"""Of the largest difference on any sample."""
_RARE = 0.25
_GROWS = 0.9
"""Of the steps from one call to the next."""


def bad_calls(calls: Sequence[Call]) -> list[Call]:
    """Those whose answers lie about as far from the first ones as any."""
    return _far(calls, lambda sample: 0.0)


def odd_calls(calls: Sequence[Call]) -> list[Call]:
    """Those whose answers lie far from the usual ones: a first answer may be one of them."""
    sizes = defaultdict(list)
    for call in calls:
        sizes[call.sample].append(call.size)
    usual = {sample: median_low(siz) for sample, siz in sizes.items()}
    return _far(calls, usual.__getitem__)


def _far(calls: Sequence[Call], usual: Callable[[int], float]) -> list[Call]:
    """The calls whose size is none that noise beside the largest one would explain."""
    away = {call: 0.0 if call.size == usual(call.sample) else abs(call.size - usual(call.sample)) for call in calls}
    largest: dict[int, float] = defaultdict(float)
    for call, size in away.items():
        largest[call.sample] = max(largest[call.sample], size)
    most = max(largest.values(), default=0.0)
    if not most:  # 0 and -0, two kinds of NaN: other bits, and no distance
        return [call for call in calls if call.answer]
    if most == math.inf:
        return [call for call, size in away.items() if size == math.inf]
    return [call for call, size in away.items() if size > max(_LITTLE * largest[call.sample], _NOISE * most)]


def pattern_of(calls: Sequence[Call]) -> Pattern | None:
    """None: no pattern shows. `calls` are all, the first ones included."""
    bad = set(bad_calls(calls))
    again = later_calls(calls)
    for pattern, fits in _TESTS.items():
        if fits(again, bad):
            return pattern
    odd = odd_calls(calls)
    return Pattern.RARE if 0 < len(odd) <= _RARE * len(calls) else None


def _by_offset(again: Sequence[Call], bad: set[Call]) -> bool:
    groups = _grouped(again, bad, lambda call: call.offset)
    return _decides(groups) and all(len(group) > 1 for group in groups.values())


def _by_sample_before(again: Sequence[Call], bad: set[Call]) -> bool:
    """Each pair of neighbours has one answer; some pair was seen twice to be bad."""
    again = [call for call in again if call.before != OTHER]
    answers = defaultdict(set)
    for call in again:
        answers[call.sample, call.before].add(call.answer)
    groups = _grouped(again, bad, lambda call: (call.sample, call.before))
    alike = all(len(answer) == 1 for answer in answers.values())
    return alike and _decides(groups) and any(all(group) and len(group) > 1 for group in groups.values())


def _at_first(again: Sequence[Call], bad: set[Call]) -> bool:
    """The first answers alone are others: all later answers to these samples agree."""
    samples = {call.sample for call in bad}
    first = set(range(len(samples))) == samples
    later = [call for call in again if call.sample in samples]
    alike = all(len({call.answer for call in later if call.sample == sample}) == 1 for sample in samples)
    return first and alike and all(call in bad for call in later)


def _from_a_call_on(again: Sequence[Call], bad: set[Call]) -> bool:
    turned = [call in bad for call in again]
    good = turned.index(True) if any(turned) else len(turned)
    return 1 <= good <= len(turned) - 2 and all(turned[good:])


def _grows(again: Sequence[Call], _: set[Call]) -> bool:
    sizes = defaultdict(list)
    for call in again:
        sizes[call.sample].append(call.size)
    steps = [(a, b) for siz in sizes.values() for a, b in pairwise(siz)]
    grown = sum(b > a for a, b in steps)
    return len(steps) >= 3 and grown >= _GROWS * len(steps) and len({call.answer for call in again}) > 3


_TESTS: dict[Pattern, Callable[[Sequence[Call], set[Call]], bool]] = {
    Pattern.FIRST_CALL: _at_first,
    Pattern.ALIGNMENT: _by_offset,
    Pattern.DRIFT: _grows,
    Pattern.CALLS: _from_a_call_on,
    Pattern.PREVIOUS_SAMPLE: _by_sample_before,
}


def _grouped(again: Sequence[Call], bad: set[Call], key: Callable[[Call], Hashable]) -> dict[Hashable, list[bool]]:
    groups: dict[Hashable, list[bool]] = defaultdict(list)
    for call in again:
        groups[key(call)].append(call in bad)
    return groups


def _decides(groups: dict[Hashable, list[bool]]) -> bool:
    """Every group is all bad or all good, and there are both."""
    return all(len(set(group)) == 1 for group in groups.values()) and len({group[0] for group in groups.values()}) == 2

"""Where a slower engine loses its time: the operators of both, paired and ranked by what they cost more."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.core.engine_info import EngineInfo
from assay.core.measurement import OperatorTime
from assay.core.result import CompareSpeedResult

SHARE_SHOWN = 0.1
"""Of the largest change: what is less explains nothing."""


@dataclass(frozen=True)
class Change:
    """One operator, seconds per call before and after; None where only the other engine has it. `what` says what became
    of it besides: another type, another kernel."""

    name: str
    operator: str
    before_s: float | None
    after_s: float | None
    what: str = ""

    @property
    def delta_s(self) -> float:
        """Positive where the new engine spends more."""
        return (self.after_s or 0.0) - (self.before_s or 0.0)


def operator_regressions(before: Sequence[OperatorTime], after: Sequence[OperatorTime]) -> list[Change]:
    """The largest change first, in either direction; those that make up less than a tenth of the largest are left out.

    Operators of one name are one. What is left over on both sides is summed up by kind: names that a compiler made up
    differ from build to build.
    """
    old, new = ({operator_time.name: operator_time for operator_time in many} for many in (before, after))
    changes = [_paired(old[name], new[name]) for name in old if name in new]
    lost = _by_kind(operator_time for operator_time in before if operator_time.name not in new)
    made = _by_kind(operator_time for operator_time in after if operator_time.name not in old)
    for kind in {**lost, **made}:
        count_before, seconds_before = lost.get(kind, (0, None))
        count_after, seconds_after = made.get(kind, (0, None))
        what = f"{count_before} -> {count_after} of them" if count_before != count_after else ""
        changes.append(Change("", kind, seconds_before, seconds_after, what))
    changes.sort(key=lambda change: -abs(change.delta_s))
    least = SHARE_SHOWN * abs(changes[0].delta_s) if changes else 0.0
    return [change for change in changes if abs(change.delta_s) > least]


def _paired(old: OperatorTime, new: OperatorTime) -> Change:
    changes = []
    if old.operator != new.operator:
        changes.append(f"{old.operator} -> {new.operator}")
    if old.precision != new.precision:
        changes.append(f"{old.precision or 'unknown type'} -> {new.precision or 'unknown type'}")
    return Change(new.name, new.operator, old.seconds, new.seconds, ", ".join(changes))


def _by_kind(times: Iterable[OperatorTime]) -> dict[str, tuple[int, float]]:
    by_kind: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for time in times:
        count, seconds = by_kind[time.operator]
        by_kind[time.operator] = (count + 1, seconds + time.seconds)
    return dict(by_kind)


def describe(change: Change) -> str:
    """`+1.24 ms MatMul h3 (0.41 -> 1.65 ms)`."""
    name = f"{change.operator} {change.name}".strip() if change.name != change.operator else change.operator
    sides = " -> ".join(
        "none" if seconds is None else f"{1e3 * seconds:.3g}" for seconds in (change.before_s, change.after_s)
    )
    what = f"; {change.what}" if change.what else ""
    return f"{1e3 * change.delta_s:+.3g} ms {name} ({sides} ms{what})"


def explained(result: CompareSpeedResult) -> list[Change]:
    """Of a comparison: what its two engines' own profiles say."""
    return operator_regressions(result.baseline_operator_times, result.operator_times)


def differences(before: EngineInfo, after: EngineInfo) -> Iterator[str]:
    """What changed in fusion, casts, precision and placement; operators by kind, type and place that the two engines do not
    share, the largest change first; then options and version."""
    yield from _roles(before, after)
    if before.precision != after.precision and before.precision and after.precision:
        yield f"coarsest type {before.precision} -> {after.precision}"
    old, new = _operators(before), _operators(after)
    changed = {key: new[key] - old[key] for key in old.keys() | new.keys() if new[key] != old[key]}
    for key, count in sorted(changed.items(), key=lambda item: (-abs(item[1]), item[0])):
        yield f"{count:+d} {key}"
    for name in sorted(before.options.keys() & after.options.keys()):
        if before.options[name] != after.options[name]:
            yield f"{name} {before.options[name]} -> {after.options[name]}"
    if before.backend_version != after.backend_version:
        yield f"version {before.backend_version} -> {after.backend_version}"


def _roles(before: EngineInfo, after: EngineInfo) -> Iterator[str]:
    words = {"fused": "fused kernels", "cast": "casts", "reformat": "reformats"}
    old, new = (
        _counted((placement.role, placement.count) for placement in facts.placements) for facts in (before, after)
    )
    for role, word in words.items():
        if old[role] != new[role]:
            yield f"{word} {old[role]} -> {new[role]}"


def _counted(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, count in pairs:
        counts[name] += count
    return counts


def _operators(facts: EngineInfo) -> Counter[str]:
    return _counted(
        (
            f"{placement.operator}{f' {placement.precision}' if placement.precision else ''} on {placement.device}",
            placement.count,
        )
        for placement in facts.placements
    )

"""The words for what other releases, or builds, make of a cause."""

from __future__ import annotations

from assay.triage.since import History, State


def since(history: History) -> str:
    """The first bad release and the first good one again; "" where no other release was tried."""
    tried = [one for one in history.states if history.states[one] is not State.UNTESTABLE]
    if len(tried) < 2:
        return (
            "not known: the registry could not be reached, and no other release that is kept can be tested"
            if history.at_hand
            else ""
        )
    parts = [f"{history.first_bad} is the first bad {history.unit}" if history.first_bad else _always(history, tried)]
    if history.good_again:
        parts.append(f"{history.good_again} is right again")
    if not history.is_monotone:
        parts.append("it came and went")
    if len(history.states) < history.among:
        parts.append(f"{len(history.states)} of {history.among} {history.unit}s were tried")
    lost = [one for one, state in history.states.items() if state is State.UNTESTABLE]
    if lost:
        parts.append(f"{len(lost)} could not be tested ({', '.join(lost[:4])}{' ...' if lost[4:] else ''})")
    if history.at_hand:
        parts.append("the registry could not be reached, so that only releases at hand were tried")
    if not history.complete:
        parts.append("the time was over before all were tried")
    return "; ".join(parts)


def _always(history: History, tried: list[str]) -> str:
    wrong = [one for one in tried if history.states[one] is State.WRONG]
    return (
        f"wrong in all {len(wrong)} {history.unit}s that were tested, {wrong[0]} to {wrong[-1]}"
        if wrong
        else "right in all"
    )

"""The words for what other releases, or builds, make of a cause."""

from __future__ import annotations

from assay.triage.since import History, State

NAMED_TURNS = 4


def since(history: History) -> str:
    """The first bad release, each turn after it and the first good one again; "" where no other release was tried."""
    tried = [release for release in history.states if history.states[release] is not State.UNTESTABLE]
    if len(tried) < 2:
        return (
            "not known: the registry could not be reached, and no other release that is kept can be tested"
            if history.at_hand
            else ""
        )
    parts = [_course(history) if history.turns else _always(history, tried)]
    if not history.is_monotone:
        parts.append("it came and went")
    if len(history.states) < history.among:
        parts.append(f"{len(history.states)} of {history.among} {history.unit}s were tried")
    lost = [release for release, state in history.states.items() if state is State.UNTESTABLE]
    if lost:
        parts.append(f"{len(lost)} could not be tested ({', '.join(lost[:4])}{' ...' if lost[4:] else ''})")
    if history.at_hand:
        parts.append("the registry could not be reached, so that only releases at hand were tried")
    if not history.complete:
        parts.append("the time was over before all were tried")
    return "; ".join(parts)


def _course(history: History) -> str:
    """From the oldest to the newest; of many turns the first ones and the last."""
    begin = (
        "the first one tried is wrong"
        if history.begins_wrong
        else f"{history.first_bad} is the first bad {history.unit}"
    )
    later = history.turns if history.begins_wrong else history.turns[1:]
    if len(later) < 2:
        return f"{begin}; {later[0]} is right again" if later else begin
    words = ("right", "wrong again" if history.begins_wrong else "wrong")
    clauses = [f"{words[at % 2]} from {name}" for at, name in enumerate(later)]
    clauses[-1] = f"{words[(len(later) - 1) % 2]} since {later[-1]}"
    if not history.begins_wrong:
        clauses[0], clauses[-1] = f"it was right again at {later[0]}", f"and {clauses[-1]}"
    clauses[NAMED_TURNS:-1] = ["..."] if clauses[NAMED_TURNS:-1] else []
    return f"{begin}{';' if history.begins_wrong else ','} {', '.join(clauses)}"


def _always(history: History, tried: list[str]) -> str:
    wrong = [release for release in tried if history.states[release] is State.WRONG]
    return (
        f"wrong in all {len(wrong)} {history.unit}s that were tested, {wrong[0]} to {wrong[-1]}"
        if wrong
        else "right in all"
    )

"""Since when: the releases in which the smallest model is wrong, found by running its script in each.

Nothing makes releases monotone, and a probe is cheap: the last patch of every minor release is tried, then the patches beside each
change from right to wrong or back.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import msgspec


class State(enum.StrEnum):
    """Of one release."""

    RIGHT = "right"
    WRONG = "wrong"
    UNTESTABLE = "untestable"


class History(msgspec.Struct, frozen=True):
    """`states` by release, oldest first. `complete`: every release beside a change was tried, and each minor one. `unit` is what one is
    called, where a user makes them: build or commit, of which there are `among` (0: not counted). `at_hand`: the registry did not answer,
    and those that were kept were tried."""

    states: dict[str, State] = {}
    complete: bool = False
    unit: str = "release"
    at_hand: bool = False
    among: int = 0

    @property
    def first_bad(self) -> str:
        """The release that is wrong after one that is right, nearest to the newest; "" where none is known to be right before."""
        changes = [later for earlier, later in _changes(self.states, State.RIGHT, State.WRONG)]
        return changes[-1] if changes else ""

    @property
    def good_again(self) -> str:
        """The first right one after the last wrong one; "" where there is none."""
        changes = [later for earlier, later in _changes(self.states, State.WRONG, State.RIGHT)]
        known = [state for state in self.states.values() if state is not State.UNTESTABLE]
        return changes[-1] if changes and known[-1] is State.RIGHT else ""

    @property
    def begins_wrong(self) -> bool:
        """Whether the oldest that could be tested is wrong: it may have begun before."""
        known = [state for state in self.states.values() if state is not State.UNTESTABLE]
        return bool(known) and known[0] is State.WRONG

    @property
    def is_monotone(self) -> bool:
        """Whether it went from right to wrong at most once, and back at most once."""
        turns = len(_changes(self.states, State.RIGHT, State.WRONG)) + len(
            _changes(self.states, State.WRONG, State.RIGHT)
        )
        return turns <= 2


def scan(releases: Sequence[str], probe: Callable[[str], State], deadline: float, newest: str = "") -> History:
    """`releases` oldest first; `newest` is the one at hand, known to be wrong. Stops at the deadline (monotonic seconds)."""
    states: dict[str, State] = {newest: State.WRONG} if newest in releases else {}

    def ask(wanted: Iterable[str]) -> bool:
        for one in wanted:
            if one not in states:
                if time.monotonic() > deadline:
                    return False
                states[one] = probe(one)
        return True

    complete = ask([*reversed(_last_patches(releases)), *releases[:1]])
    while complete:
        between = _between(releases, states)
        if not between:
            break
        complete = ask(between)
    ordered = {one: states[one] for one in releases if one in states}
    return History(ordered, complete)


def _last_patches(releases: Sequence[str]) -> list[str]:
    """One for each minor release."""
    return list({tuple(one.split(".")[:2]): one for one in releases}.values())


def _between(releases: Sequence[str], states: dict[str, State]) -> list[str]:
    """The middle of those not tried between each two neighbours that differ."""
    known = [one for one in releases if one in states]
    found = []
    for earlier, later in pairwise(known):
        gap = releases[releases.index(earlier) + 1 : releases.index(later)]
        if gap and states[earlier] is not states[later]:
            found.append(gap[len(gap) // 2])
    return found


def _changes(states: dict[str, State], before: State, after: State) -> list[tuple[str, str]]:
    """Neighbours (what cannot be tested left out) of which the first is in one state and the second in the other."""
    known = [(name, state) for name, state in states.items() if state is not State.UNTESTABLE]
    return [(one[0], other[0]) for one, other in pairwise(known) if one[1] is before and other[1] is after]

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
    def turns(self) -> tuple[str, ...]:
        """Each release that is right after a wrong one, or wrong after a right one; what cannot be tested is left out."""
        return tuple(later[0] for earlier, later in pairwise(self._tested()) if earlier[1] is not later[1])

    @property
    def first_bad(self) -> str:
        """The first release that is wrong after one that is right; "" where there is none, or it was wrong before: see `begins_wrong`."""
        return "" if self.begins_wrong or not self.turns else self.turns[0]

    @property
    def good_again(self) -> str:
        """The first right one after the last wrong one; "" where there is none."""
        return self.turns[-1] if self.turns and self._tested()[-1][1] is State.RIGHT else ""

    @property
    def begins_wrong(self) -> bool:
        """Whether the oldest that could be tested is wrong: it may have begun before."""
        return any(state is State.WRONG for _, state in self._tested()[:1])

    @property
    def is_monotone(self) -> bool:
        """Whether it went from right to wrong at most once, and back at most once. What begins wrong went there before."""
        return self.begins_wrong + len(self.turns) <= 2

    def _tested(self) -> list[tuple[str, State]]:
        return [(name, state) for name, state in self.states.items() if state is not State.UNTESTABLE]


def scan(releases: Sequence[str], probe: Callable[[str], State], deadline: float, newest: str = "") -> History:
    """`releases` oldest first; `newest` is the one at hand, known to be wrong. Stops at the deadline (monotonic seconds)."""
    states: dict[str, State] = {newest: State.WRONG} if newest in releases else {}

    def ask(names: Iterable[str]) -> bool:
        for release in names:
            if release not in states:
                if time.monotonic() > deadline:
                    return False
                states[release] = probe(release)
        return True

    complete = ask([*reversed(_last_patches(releases)), *releases[:1]])
    while complete:
        between = _between(releases, states)
        if not between:
            break
        complete = ask(between)
    ordered = {release: states[release] for release in releases if release in states}
    return History(ordered, complete)


def _last_patches(releases: Sequence[str]) -> list[str]:
    """One for each minor release."""
    return list({tuple(release.split(".")[:2]): release for release in releases}.values())


def _between(releases: Sequence[str], states: dict[str, State]) -> list[str]:
    """The middle of those not tried between each two neighbours that differ."""
    known = [release for release in releases if release in states]
    names = []
    for earlier, later in pairwise(known):
        gap = releases[releases.index(earlier) + 1 : releases.index(later)]
        if gap and states[earlier] is not states[later]:
            names.append(gap[len(gap) // 2])
    return names

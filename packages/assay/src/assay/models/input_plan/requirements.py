"""What a tensor must hold so that the operators behind it can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

MASK, LENGTH, INDEX, COUNT = "mask", "length", "index", "count"
DOMAIN, DIVISOR, UNIQUE, ASCENDING = "domain", "divisor", "unique", "ascending"
"""Kinds: 0 or 1; how many steps of another axis count; a place in a table; how often or how large; the domain of a function;
what is divided by; places that must differ; where parts of an axis begin and end."""


@dataclass(frozen=True)
class Need:
    """Values from `low` to `high`, both included; of `choices` where there are some; just `exact` where there are as many
    elements. `why` names the operator that asks."""

    low: float = -inf
    high: float = inf
    kind: str = DOMAIN
    choices: tuple[float, ...] = ()
    why: str = ""
    exact: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()

    def meet(self, other: Need) -> Need:
        """Both at once; where they contradict each other the first stays, for nothing would meet both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            return self
        narrower = self if (self.low, self.high) == (low, high) else other
        kind = narrower.kind
        if UNIQUE in (self.kind, other.kind):
            kind = UNIQUE
        common = tuple(one for one in self.choices or other.choices if low <= one <= high)
        return Need(
            low,
            high,
            kind,
            common,
            narrower.why or self.why or other.why,
            self.exact or other.exact,
            self.texts or other.texts,
        )

    def shifted(self, lowest: float, highest: float) -> Need:
        """Of `x`, where `x + c` has this one for every c from `lowest` to `highest`."""
        return self._moved(self.low - lowest, self.high - highest)

    def scaled(self, factor: float) -> Need:
        """Of `x`, where `x * factor` has this one."""
        ends = sorted((self.low / factor, self.high / factor))
        return self._moved(*ends)

    def _moved(self, low: float, high: float) -> Need:
        return replace(self, low=min(low, high), high=high, choices=(), exact=())


def meet(needs: Sequence[Need]) -> Need | None:
    """All of them; None where there is none."""
    found: Need | None = None
    for one in needs:
        found = one if found is None else found.meet(one)
    return found

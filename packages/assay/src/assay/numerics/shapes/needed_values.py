"""What a tensor must hold so that the operators behind it can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from assay.numerics.shapes.values import Node, Value

MASK, LENGTH, INDEX, COUNT = "mask", "length", "index", "count"
DOMAIN, DIVISOR, UNIQUE, ASCENDING, MAGNITUDE = "domain", "divisor", "unique", "ascending", "magnitude"
"""Kinds: 0 or 1; how many steps of another axis count; a place in a table; how often or how large; the domain of a function;
what is divided by; places that must differ; where parts of an axis begin and end; any number, small ones as often as large ones."""


@dataclass(frozen=True)
class Need:
    """Values from `low` to `high`, both included; of `choices` where there are some; just `exact` where there are as many
    elements. `operator` and `node` name what asks."""

    low: float = -inf
    high: float = inf
    kind: str = DOMAIN
    choices: tuple[float, ...] = ()
    exact: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    operator: str = ""
    node: str = ""

    def meet(self, other: Need) -> Need:
        """Both at once; where they contradict each other the first stays, for nothing would meet both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            return self
        narrower = self if (self.low, self.high) == (low, high) else other
        kind = narrower.kind
        if UNIQUE in (self.kind, other.kind):
            kind = UNIQUE
        common = tuple(choice for choice in self.choices or other.choices if low <= choice <= high)
        named = next((need for need in (narrower, self, other) if need.operator), narrower)
        return Need(
            low,
            high,
            kind,
            common,
            self.exact or other.exact,
            self.texts or other.texts,
            named.operator,
            named.node,
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
    joined: Need | None = None
    for need in needs:
        joined = need if joined is None else joined.meet(need)
    return joined


Demands = Iterator[tuple[int, Need]]
"""(place of the input, what it must hold)."""
Ranges = Callable[[Node, Sequence[Value]], Demands]
"""What an operator asks of the values that it is given, whatever becomes of its outputs."""
Carry = Callable[[Node, Sequence[Value], Need], Demands]
"""What the inputs of an operator must hold, so that its output holds what is asked of it."""

TINY = 0.01
"""How far from a pole a value stays."""
MOST_TEXTS = 1000
LARGE_FACTOR = 1000.0
"""A factor that turns 1 into "never" before a softmax, and 0 into "always"."""


def size_of(inputs: Sequence[Value], place: int, axis: int) -> int | None:
    """Of one axis of an input; None where it is not known."""
    shape = inputs[place].shape if place < len(inputs) else None
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def index_into(size: int | None, kind: str = INDEX) -> Need:
    """Into an axis of this size; of one that nobody knows, only the first place is sure."""
    return Need(0, 0 if size is None else max(size - 1, 0), kind)


def first_axes(count: int) -> Need:
    """The first axes, so many as there are places."""
    return Need(0, count - 1, COUNT, exact=tuple(map(float, range(count))))


def named_axes(_: Node, inputs: Sequence[Value]) -> Demands:
    """Axes that are the second input."""
    yield 1, first_axes(size_of(inputs, 1, 0) or 1)


def positive(_: Node, __: Sequence[Value]) -> Demands:
    """Of a function with a pole at 0."""
    yield 0, Need(TINY, inf)


def known_texts(node: Node, _: Sequence[Value]) -> Demands:
    """What the operator knows: other texts all become one."""
    lists = (node.attributes.get(name) for name in ("keys_strings", "cats_strings", "pool_strings"))
    texts = next((strings for strings in lists if strings), None)
    if texts:
        yield 0, Need(texts=tuple(texts[:MOST_TEXTS]))

"""Sizes of the symbolic dimensions of a model's inputs: usual ones that meet every constraint of its graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from assay.models.input_plan.evaluate_shapes import evaluate
from assay.models.input_plan.graph import Graph
from assay.models.input_plan.shape_engine import Evaluation, Unmet
from assay.models.input_plan.symbols import USUAL, Sizes, shaped, symbols
from assay.numerics.shapes.values import Array

NATURAL = (16, 32, 64, 96, 128, 48, 160, 192, 224, 256, 320, 384, 512, 640, 768, 1024)
SMALL = (1, 2, 3, 4, 8, 12, 20, 24, 40, 80, 10, 5, 6, 7)
LARGE = (100, 200, 240, 300, 400, 480, 500, 800, 1000, 1280, 1600, 2048, 4000, 4096, 8000, 16000)
MOST_STEPS = 600_000
"""Operators that the search evaluates, about a second of them: no clock, so that every machine finds the same sizes."""
MOST_ELEMENTS = 3 * 320 * 320
"""Of all inputs, up to which larger sizes are tried so that windows have room."""
REPAIRED = 6
"""States from which constraints are repaired, those that got farthest first."""


@dataclass(frozen=True)
class Solution:
    """`unmet` is the constraint that got farthest where no sizes meet all of them."""

    sizes: Sizes
    walked: Evaluation
    unmet: Unmet | None = None


def solve(graph: Graph, *, batch: int, fixed: Sizes, data: Mapping[str, Array]) -> Solution:
    """`batch` for first dimensions and 16 for all others, where the graph takes that; else the least usual sizes that it
    takes, those preferred at which every window has room. `fixed` ones stay as they are."""
    return _Search(graph, fixed, data).run(batch)


@dataclass
class _Search:
    graph: Graph
    fixed: Sizes
    data: Mapping[str, Array]
    free: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    seen: dict[tuple[int, ...], Evaluation] = field(default_factory=dict)
    steps: int = 0

    def run(self, batch: int) -> Solution:
        firsts = symbols(self.graph.declared)
        start = {name: self.fixed.get(name, batch if first else USUAL) for name, first in firsts.items()}
        self.free = [name for name in firsts if name not in self.fixed]
        self.others = [name for name in self.free if not firsts[name]] or self.free
        evaluation = self._walk(start)
        if _is_good(evaluation) or not self.free:
            return Solution(start, evaluation, evaluation.unmet)
        states = [start, *self._together(start)]
        good = [state for state in states if self._walk(state).unmet is None]
        if not good:
            ranked = sorted(states, key=lambda state: -self._progress(state))[:REPAIRED]
            good = [repaired for state in ranked if (repaired := self._repaired(state)) is not None][:1]
            good = good or [state for state in [self._paired(start)] if state is not None]
            good += [larger for smaller in good for larger in self._larger(smaller)]
        if good and all(self._walk(state).untaken for state in good):
            good += [state for state in [self._for_both_branches(good[0])] if state is not None]
        if not good:
            best = max(self.seen.values(), key=lambda state: state.progress)
            return Solution(start, evaluation, best.unmet)
        chosen = min(good, key=self._rank)
        chosen = min([chosen, *self._reaching(chosen)], key=self._rank)
        chosen = self._shrunk(chosen, batch, firsts)
        return Solution(chosen, self._walk(chosen))

    def _rank(self, state: Sizes) -> tuple[int, int, int]:
        evaluation = self._walk(state)
        return evaluation.untaken, evaluation.narrow, self._elements(state)

    def _reaching(self, good: Sizes) -> Iterator[Sizes]:
        """Sizes at which a window might read what a Pad added and none reads."""
        more = self._walk(good).unread
        for names in (self.others, *([name] for name in self.others)) if more else ():
            grown = {**good, **{name: good[name] + more for name in names}}
            if self._elements(grown) <= MOST_ELEMENTS and not self._spent() and self._walk(grown).unmet is None:
                yield grown

    def _shrunk(self, good: Sizes, batch: int, firsts: Mapping[str, bool]) -> Sizes:
        """Dimensions that became larger together with a batch go back to it together."""
        for size in {good[name] for name in self.free if firsts[name] and good[name] != batch}:
            batch_sizes = {name: batch if now == size and name in self.free else now for name, now in good.items()}
            firsts_only = {
                name: batch if now == size and firsts[name] and name in self.free else now for name, now in good.items()
            }
            for smaller in (firsts_only, batch_sizes):
                if self._walk(smaller).unmet is None:
                    return smaller
        return good

    def _walk(self, sizes: Sizes) -> Evaluation:
        key = tuple(sizes.values())
        if key not in self.seen:
            self.seen[key] = evaluate(self.graph, shaped(self.graph.declared, sizes), self.data)
            self.steps += self.seen[key].progress + 1
        return self.seen[key]

    def _progress(self, sizes: Sizes) -> int:
        evaluation = self._walk(sizes)
        return evaluation.progress if evaluation.unmet is not None else 1 << 60

    def _elements(self, sizes: Sizes) -> int:
        shapes = shaped(self.graph.declared, sizes).values()
        return sum(prod(shape) for shape in shapes if shape is not None)

    def _spent(self) -> bool:
        return self.steps > MOST_STEPS

    def _together(self, start: Sizes) -> Iterator[Sizes]:
        """All but the batch at one size. Ends at the first at which every window has room."""
        for size in NATURAL:
            grown = {**start, **dict.fromkeys(self.others, size)}
            if self._spent() or (size > USUAL and self._elements(grown) > MOST_ELEMENTS and self._met(start, size)):
                return
            yield grown
            if _is_good(self._walk(grown)):
                return

    def _for_both_branches(self, good: Sizes) -> Sizes | None:
        """Sizes at which each branch could be entered. None where none are found."""
        for names in ([self.others] if len(self.others) > 1 else []) + [[name] for name in self.others]:
            for size in dict.fromkeys((*SMALL, *NATURAL, *range(1, 513), *LARGE)):
                entered = {**good, **dict.fromkeys(names, size)}
                if self._spent():
                    return None
                if self._elements(entered) <= MOST_ELEMENTS and _is_entered(self._walk(entered)):
                    return entered
        return None

    def _met(self, start: Sizes, size: int) -> bool:
        """Whether a smaller one than this is good enough."""
        tried = ({**start, **dict.fromkeys(self.others, number)} for number in NATURAL if number < size)
        return any(
            key in self.seen and self.seen[key].unmet is None for key in (tuple(sizes.values()) for sizes in tried)
        )

    def _larger(self, good: Sizes) -> Iterator[Sizes]:
        for names in (self.others, *([name] for name in self.others)):
            for factor in (2, 3, 4):
                grown = {**good, **{name: good[name] * factor for name in names}}
                if self._elements(grown) <= MOST_ELEMENTS and not self._spent() and self._walk(grown).unmet is None:
                    yield grown

    def _repaired(self, state: Sizes) -> Sizes | None:
        """Step by step to a state that meets one constraint more. None where no single change does."""
        while self._walk(state).unmet is not None:
            progress = self._progress(state)
            better = next((change for change in self._changes(state) if self._progress(change) > progress), None)
            if better is None or self._spent():
                return None
            state = better
        return state

    def _changes(self, state: Sizes) -> Iterator[Sizes]:
        unmet = self._walk(state).unmet
        assert unmet is not None
        # Towards the smaller of two sizes first.
        for size, other in sorted(unmet.pairs, key=lambda pair: pair[1]):
            for name in self.free:
                for proposal in _proposals(state[name], size, other):
                    yield from self._with(state, {name: proposal})
            for names in self._alike(state):
                for power in _powers(state[names[0]], size, other):
                    yield from self._with(state, dict.fromkeys(names, power))
        for names in (*self._alike(state), *([name] for name in self._ordered())):
            for number in (*NATURAL, *SMALL, *LARGE):
                yield from self._with(state, dict.fromkeys(names, number))
        for names in (*self._alike(state), *([name] for name in self.others)):
            for number in range(1, 513):
                yield from self._with(state, dict.fromkeys(names, number))

    def _alike(self, state: Sizes) -> list[list[str]]:
        """Dimensions that have one size, as the sides of a picture."""
        groups: dict[int, list[str]] = {}
        for name in self.others:
            groups.setdefault(state[name], []).append(name)
        return [names for names in groups.values() if len(names) > 1]

    def _ordered(self) -> list[str]:
        """The batch last: it is one as a rule."""
        return sorted(self.free, key=lambda symbol: symbol not in self.others)

    def _with(self, state: Sizes, changes: Sizes) -> Iterator[Sizes]:
        if not self._spent():
            yield {**state, **changes}

    def _paired(self, start: Sizes) -> Sizes | None:
        """Two dimensions at once, where one alone leads nowhere."""
        for first, second in _pairs(self.free):
            for number in (*NATURAL, *SMALL):
                for other in (*NATURAL, *SMALL):
                    if self._spent():
                        return None
                    sizes = {**start, first: number, second: other}
                    if self._walk(sizes).unmet is None:
                        return sizes
        return None


def _is_entered(evaluation: Evaluation) -> bool:
    return evaluation.unmet is None and not evaluation.untaken


def _is_good(evaluation: Evaluation) -> bool:
    return _is_entered(evaluation) and not evaluation.narrow


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((name, other) for place, name in enumerate(names) for other in names[place + 1 :])


def _proposals(now: int, size: int, other: int) -> Iterable[int]:
    """What a dimension may have to be, where it is `now`, and something that follows from it is `size` and should be `other`:
    the same, as many more, or so many times as large."""
    sizes = [other] if size == now else []
    if size:
        sizes.append(round(now * other / size))
        # A stride, or a patch, stands between them.
        sizes.append(-(-now * other // size))
    sizes.append(now + other - size)
    return sorted({number for number in sizes if number >= 1 and number != now})


def _powers(now: int, size: int, other: int) -> list[int]:
    """So many times as large that the product of one, two or three of them is as it should be."""
    ratios = [(other / size) ** (1 / power) for power in (1, 2, 3)] if size and other > 0 else []
    return sorted({scaled for ratio in ratios if (scaled := max(1, round(now * ratio))) != now})

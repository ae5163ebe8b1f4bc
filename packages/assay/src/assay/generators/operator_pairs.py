"""Every ordered pair of operators, the second reading the first: what no list of patterns leaves out. Those that compilers rewrite come
round more often."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from assay.generators.build import Build, Operand
from assay.generators.compose import finished
from assay.generators.draws import Draws
from assay.generators.kinds import KINDS
from assay.generators.near_misses import OPSETS
from assay.generators.operators import forms
from assay.generators.rewritten_pairs import rewritten
from assay.generators.schemas import NotMade
from assay.ports.generator import GeneratedCase

TRIES = 6
"""Of each operator, before the pair is given up."""
INNER = 15


class OperatorPairs:
    """Goes round the whole square of operators in an order that mixes them. What the second reads beside the first is often a constant,
    as a fusion wants it, and sometimes the first once more."""

    name = "operator-pairs"
    version = 7
    about = "every ordered pair of operators, the second reading the first, with constants beside it"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        turn, part = divmod(index, len(_NAMES))
        names = _NAMES[part]()
        draws = Draws(self.name, self.version, seed, index)
        place = _mixed(turn, len(names) ** 2)
        first, second = names[place // len(names)], names[place % len(names)]
        build = Build(draws, draws.one_of(OPSETS), reuse=100)
        try:
            made = [*_added(build, first), *_added(build, second)]
            return finished(build, made, INNER)
        except NotMade:
            return None


def _added(build: Build, operator: str) -> list[Operand]:
    """Its outputs; it reads one of the values that a node gives, where there are any."""
    made = {name for node in build.nodes for name in node.output}
    for _ in range(TRIES):
        mark = build.mark()
        try:
            outputs = forms()[operator](build, operator)
        except NotMade:
            build.undo(mark)
            continue
        if not made or any(name in made for node in build.nodes[mark[0] :] for name in node.input):
            return outputs
        build.undo(mark)
    raise NotMade


def _of_kinds() -> tuple[str, ...]:
    return tuple(name for kind in KINDS for name in kind)


_NAMES: tuple[Callable[[], tuple[str, ...]], ...] = (_of_kinds, rewritten, _of_kinds, lambda: tuple(forms()))
"""Of four cases two are pairs of what compilers have rules for, one is of operators that an optimiser was seen to rewrite or that stand in
the body of a function, one of all."""


def _mixed(index: int, size: int) -> int:
    """A walk over all of `size` places that begins again when it is through: steps of about the golden section, prime to the size."""
    step = int(size * 0.6180339887) | 1
    while gcd(step, size) > 1:
        step += 2
    return index * step % size

"""Short chains of what compilers rewrite: operators that an optimiser was seen to change together, and one step beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.generators.build import Build
from assay.generators.compose import finished, grow
from assay.generators.draws import Draws
from assay.generators.kinds import next_by_kind
from assay.generators.operators import forms
from assay.generators.rewritten_pairs import rewritten, rewritten_after
from assay.generators.schemas import NotMade
from assay.ports.generator import GeneratedCase

OPSETS = (7, 9, 10, 11, 12, 13, 13, 14, 16, 17, 18, 18, 19, 20, 21, 21, 22, 23, 24)
PAIR, REWRITTEN = 40, 60
"""Percent of steps that take a pair which was seen to be rewritten, and of the others those that take an operator of such a pair."""
LEARNED = 50
"""Percent of all steps that take what was learned of a backend, where something was."""
INNER = 30
BY_KIND = 40
"""Percent of the cases whose operators follow one another by their kinds."""


class NearMisses:
    """Pairs come from the graph before and after an optimiser (`benchmarks/fuzz_pairs.py`); axes, permutations, flags, ranks, broadcast,
    types, constants or inputs, equal operands, opsets and outputs in the middle are drawn."""

    name = "near-misses"
    version = 9
    about = "short chains of operators that an optimiser rewrites together, with everything else drawn"

    def __init__(self, learned: Mapping[str, Sequence[str]] | None = None) -> None:
        self._learned = {name: tuple(after) for name, after in (learned or {}).items()}

    def beside(self, pairs: Path) -> NearMisses:
        """See `ports.LearnsPairs`."""
        return NearMisses(msgspec.json.decode(pairs.read_bytes(), type=dict[str, tuple[str, ...]]))

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        build = Build(draws, draws.one_of(OPSETS), reuse=85)
        try:
            by_kind = draws.chance(BY_KIND) and not self._learned  # what was learned is of this backend
            choose = next_by_kind if by_kind else self._next
            return finished(build, grow(build, draws.between(2, 4), choose), INNER)
        except NotMade:
            return None

    def _next(self, build: Build, before: str) -> str:
        if self._learned and build.draws.chance(LEARNED):
            known = self._learned.get(before, ()) or tuple(self._learned)
            return build.draws.one_of(known)
        return next_rewritten(build, before)


def next_rewritten(build: Build, before: str) -> str:
    """Mostly an operator that an optimiser was seen to rewrite behind the one before."""
    draws = build.draws
    if draws.chance(PAIR):
        after = rewritten_after()
        known = after.get(before, ()) if before else tuple(after)
        if known:
            return draws.one_of(known)
    return draws.one_of(rewritten() if draws.chance(REWRITTEN) else tuple(forms()))

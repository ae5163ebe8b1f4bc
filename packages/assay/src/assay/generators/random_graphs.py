"""Typed random graphs: any operator may read any value that it takes."""

from __future__ import annotations

from assay.generators.build import Build
from assay.generators.compose import finished, grow
from assay.generators.draws import Draws
from assay.generators.near_misses import OPSETS
from assay.generators.operators import forms
from assay.generators.schemas import NotMade
from assay.ports.generator import GeneratedCase


class RandomGraphs:
    """Three to ten nodes."""

    name = "random-graphs"
    version = 8
    about = "typed random graphs of three to ten nodes, of all operators"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        build = Build(draws, draws.one_of(OPSETS), reuse=75)
        try:
            return finished(build, grow(build, draws.between(3, 10), lambda build, _: draws.one_of(tuple(forms()))), 20)
        except NotMade:
            return None

"""Every operator at every opset in which it changed: one node a case."""

from __future__ import annotations

from assay.generators.build import Build
from assay.generators.draws import Draws
from assay.generators.operators import forms
from assay.generators.schemas import NotMade, changes_of
from assay.ports.generator import GeneratedCase


class Sweep:
    """Goes round all forms of all operators: one case of each, then the next of each."""

    name = "sweep"
    version = 9
    about = "every operator at every opset in which it changed, attributes within their domains, boundary shapes"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        grid = [(name, opset) for name in forms() for opset in changes_of(name)]
        operator, opset = grid[index % len(grid)]
        build = Build(Draws(self.name, self.version, seed, index), opset)
        try:
            return build.case(forms()[operator](build, operator))
        except NotMade:
            return None

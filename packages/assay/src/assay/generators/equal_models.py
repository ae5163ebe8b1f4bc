"""Whole models changed by equalities that keep the answer: it must not be seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.generators.build import Build, Operand
from assay.generators.compose import finished
from assay.generators.draws import Draws
from assay.generators.equal_nodes import Known, equal_node
from assay.generators.known_sizes import LARGEST_INPUT
from assay.generators.mined import MinedPattern, MinedValue, decode, own_patterns
from assay.generators.schemas import NotMade
from assay.generators.values import draw_values
from assay.ports.generator import GeneratedCase

MOST_CHANGES = 4
INNER = 15
"""Percent of the cases with a value in the middle as an output, too."""


class EqualModels:
    """`models` are those of a folder (`assay fuzz --near`), or the bodies of ONNX's functions. Nothing but equalities is done to them."""

    name = "equal-models"
    version = 1
    about = "your models as they are, changed by equalities: reassociation, dead branches, pushed transposes, casts there and back"

    def __init__(self, models: Sequence[MinedPattern] | None = None) -> None:
        self._models = own_patterns() if models is None else tuple(models)

    def near(self, patterns: Path) -> EqualModels:
        """See `ports.NearModels`."""
        mined = decode(patterns.read_bytes())
        return EqualModels([pattern for pattern in mined if pattern.whole] or mined)

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        model = self._models[index % len(self._models)]
        build = Build(draws, max(7, min(24, model.opset)))
        changed = {draws.below(len(model.nodes)) for _ in range(draws.between(1, MOST_CHANGES))}
        try:
            return finished(build, _built(build, model, changed), INNER)
        except NotMade:
            return None


def _built(build: Build, model: MinedPattern, changed: set[int]) -> list[Operand]:
    values: list[Operand] = [_value(build, mined_value, model) for mined_value in model.values]
    made: list[Operand] = []
    makers: dict[str, Known] = {}
    for place, node in enumerate(model.nodes):
        reads = [values[at] if at >= 0 else None for at in node.reads]
        known = Known(node.operator, tuple(reads), dict(node.attributes), node.outputs, makers)
        outputs = equal_node(build, known) if place in changed else known.built(build)
        makers = makers | {outputs[0].name: known}
        values += outputs
        made += outputs
    return made


def _value(build: Build, mined_value: MinedValue, model: MinedPattern) -> Operand:
    """A constant with its numbers, or with numbers that keep the size of what it is multiplied with; else an input."""
    dtype, shape = mined_value.dtype, mined_value.shape
    if mined_value.numbers is not None:
        return build.constant(np.asarray(mined_value.numbers).astype(numpy_dtype(dtype)).reshape(shape))
    if np.prod(shape, dtype=np.int64) > LARGEST_INPUT:
        raise NotMade
    low, high = (-2.0, 2.0) if is_floating(dtype) else (0.0, 1.0 if model.whole else 3.0)
    return build.input(draw_values(build.draws, dtype, shape, low, high), low, high)

"""Engines that are used as services use them: at sizes that are not fixed, of none and of one, again and again, saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from assay.core.screening import Use
from assay.generators.build import Build
from assay.generators.compose import finished, grow
from assay.generators.draws import Draws
from assay.generators.near_misses import OPSETS, next_rewritten
from assay.generators.operators import forms
from assay.generators.schemas import NotMade
from assay.generators.values import draw_values
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

SIZES = (0, 1, 1, 2, 3, 6, 17, 64)
"""That an axis has in another call."""
OTHERS = 3
SYMBOLIC = 70
"""Percent of the axes that have no fixed size."""
LARGEST = 2**15


class UsedEngines:
    """Short chains whose inputs have symbolic dimensions. In another call every axis of one size has another one."""

    name = "used-engines"
    version = 5
    about = "short chains with symbolic dimensions, at several sizes; called again, saved and loaded, and run beside each other"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        build = Build(draws, draws.one_of(OPSETS), reuse=85)
        try:
            made = grow(build, draws.between(1, 4), _next)
            return _used(build, finished(build, made, 20))
        except NotMade:
            return None


def _next(build: Build, before: str) -> str:
    return next_rewritten(build, before) if build.draws.chance(60) else build.draws.one_of(tuple(forms()))


def _used(build: Build, case: GeneratedCase) -> GeneratedCase:
    draws = build.draws
    model: Any = onnx.load_from_string(case.model)
    symbolic: dict[str, set[int]] = {}
    for value in model.graph.input:
        for place, axis in enumerate(value.type.tensor_type.shape.dim):
            if axis.dim_value > 0 and draws.chance(SYMBOLIC):
                axis.Clear()
                axis.dim_param = f"{value.name}_{place}"
                symbolic.setdefault(value.name, set()).add(place)
    for value in model.graph.output:
        for place, axis in enumerate(value.type.tensor_type.shape.dim if symbolic else ()):
            axis.Clear()
            axis.dim_param = f"{value.name}_{place}"
    others = [other for _ in range(OTHERS) if (other := _other(build, case, symbolic)) is not None]
    uses = draws.shuffled([Use.AGAIN, Use.RELOADED, Use.SIDE_BY_SIDE])[: draws.between(1, 3)]
    return GeneratedCase(model.SerializeToString(deterministic=True), case.inputs, tuple(others), tuple(uses))


def _other(build: Build, case: GeneratedCase, symbolic: Mapping[str, set[int]]) -> dict[str, Tensor] | None:
    """Every symbolic axis of one size gets another: axes that must be of one size mostly are."""
    draws = build.draws
    sizes = sorted({case.inputs[name].shape[place] for name, places in symbolic.items() for place in places})
    if not sizes:
        return None
    before, after = draws.one_of(sizes), draws.one_of(SIZES)
    inputs, known = {}, {value.name: value for value in build.values}
    for name, array in case.inputs.items():
        shape = tuple(
            after if size == before and place in symbolic.get(name, ()) else size
            for place, size in enumerate(array.shape)
        )
        if int(np.prod(shape, dtype=np.int64)) > LARGEST:
            return None
        input_range = known[name]
        if shape == array.shape or not np.isfinite([input_range.low, input_range.high]).all():
            inputs[name] = np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
        else:
            inputs[name] = draw_values(draws, input_range.dtype, shape, input_range.low, input_range.high)
    return inputs

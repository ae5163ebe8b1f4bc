"""The symbolic dimensions of a model's inputs: their names, and shapes in which they have sizes."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.flow import dimension_key
from assay.core.input_plan import InputPlan
from assay.core.model import Model

Sizes = dict[str, int]
USUAL = 16
"""Every symbolic dimension that is not the first of some input, where nothing asks for another size."""


def symbols(declared: Mapping[str, tuple[int | str, ...] | None]) -> dict[str, bool]:
    """By name, in order: whether it is the first dimension of some input, which is the batch as a rule."""
    is_batch: dict[str, bool] = {}
    for name, shape in declared.items():
        for axis, size in enumerate(shape or ()):
            if isinstance(size, str):
                key = dimension_key(name, axis, size)
                is_batch[key] = is_batch.get(key, False) or axis == 0
    return is_batch


def shaped(declared: Mapping[str, tuple[int | str, ...] | None], sizes: Sizes) -> dict[str, tuple[int, ...] | None]:
    """The shape of each input at these sizes; None where the rank is not known."""
    return {
        name: None
        if shape is None
        else tuple(
            size if isinstance(size, int) else sizes[dimension_key(name, axis, size)] for axis, size in enumerate(shape)
        )
        for name, shape in declared.items()
    }


def planned_shapes(model: Model, plan: InputPlan, *, batch: int) -> dict[str, tuple[int, ...]]:
    """The shape of each input, symbols that the plan does not name as ever: `batch` first, 16 elsewhere."""
    firsts = symbols({spec.name: spec.shape for spec in model.inputs})

    def number(name: str, axis: int, dim: int | str) -> int:
        if isinstance(dim, int):
            return dim
        key = dimension_key(name, axis, dim)
        return plan.sizes.get(key, batch if firsts[key] else USUAL)

    return {
        spec.name: tuple(number(spec.name, axis, size) for axis, size in enumerate(spec.shape)) for spec in model.inputs
    }

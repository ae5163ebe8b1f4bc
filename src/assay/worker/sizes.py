"""The sizes of dynamic dimensions that an engine is verified at, besides those of its samples."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.model import Model
from assay.models.seeded import seeded_inputs
from assay.ports import Tensor

Sizes = dict[str, int]


def points(dims: Mapping[str, tuple[int, int, int]]) -> list[Sizes]:
    """All dimensions at their least, at an odd size in the middle, and at their most; a point that comes twice is one."""
    places = [
        {name: least for name, (least, _, _) in dims.items()},
        {name: odd_between(least, most) for name, (least, _, most) in dims.items()},
        {name: most for name, (_, _, most) in dims.items()},
    ]
    return [place for index, place in enumerate(places) if place and place not in places[:index]]


def odd_between(least: int, most: int) -> int:
    """An odd number near the middle, inside both bounds where there is one: kernels are tuned for even sizes."""
    middle = (least + most) // 2
    if middle % 2:
        return middle
    return next((one for one in (middle + 1, middle - 1) if least <= one <= most), middle)


def told(sizes: Sizes) -> str:
    """`batch=7, length=33`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def inputs_at(case: Case, sizes: Sizes) -> dict[str, Tensor]:
    """One sample drawn from the case's seed, with these sizes."""
    return seeded_inputs(_sized(case.model, sizes), seed=case.inputs.seed, samples=1, batch=case.inputs.batch)[0]


def usual(case: Case) -> Model:
    """The model as it takes the usual sizes that the case names, which engines of fixed sizes are built for."""
    return _sized(case.model, {name: size for name, (_, size, _) in case.inputs.dims.items()})


def _sized(model: Model, sizes: Sizes) -> Model:
    specs = tuple(
        replace(spec, shape=tuple(sizes.get(one, one) if isinstance(one, str) else one for one in spec.shape))
        for spec in model.inputs
    )
    return replace(model, inputs=specs)
